// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-persist-grid{blocks=-3})' --verify-diagnostics

// expected-error @+1 {{persistent blocks must be from 1 to 65535, not -3}}
module {
}
