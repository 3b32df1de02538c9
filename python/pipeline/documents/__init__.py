"""Documents of JSON that nobody vouches for: read, checked against a schema, or refused."""
