// The fill and the product have tiles of the same sizes.
!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !any {transform.consumed}) {
    %ops = transform.structured.match ops{["linalg.fill", "linalg.matmul"]} in %program
        : (!any) -> !any
    %fill, %matmul = transform.split_handle %ops : (!any) -> (!any, !any)
    // One loop over blocks has both.
    %0, %blocks = transform.structured.tile_using_forall %matmul tile_sizes [32, 32]
        (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!any) -> (!any, !any)
    %1, %2 = transform.structured.fuse_into_containing_op %fill into %blocks
        : (!any, !any) -> (!any, !any)
    // In it, each has a loop over threads of its own.
    %3, %4 = transform.structured.tile_using_forall %1 tile_sizes [4, 4]
        (mapping = [#gpu.thread<y>, #gpu.thread<x>]) : (!any) -> (!any, !any)
    %5, %6 = transform.structured.tile_using_forall %0 tile_sizes [4, 4]
        (mapping = [#gpu.thread<y>, #gpu.thread<x>]) : (!any) -> (!any, !any)
    %function = transform.structured.match ops{["func.func"]} in %program : (!any) -> !any
    transform.apply_patterns to %function {
      transform.apply_patterns.canonicalization
    } : !any
    transform.apply_cse to %function : !any
    %buffers = transform.apply_registered_pass "workgroup-bufferize" to %program
        : (!any) -> !any
    transform.yield
  }
}
