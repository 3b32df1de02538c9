// The schedule of test/Examples/streaming-k.mlir. Memory 1 is that of a block, 2 that of a thread.
!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !any {transform.consumed}) {
    %ops = transform.structured.match ops{["linalg.fill", "linalg.matmul"]} in %program
        : (!any) -> !any
    %fill, %matmul = transform.split_handle %ops : (!any) -> (!any, !any)
    // blocks
    %0, %blocks = transform.structured.tile_using_forall %matmul tile_sizes [64, 64]
        (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!any) -> (!any, !any)
    %1, %2 = transform.structured.fuse_into_containing_op %fill into %blocks
        : (!any, !any) -> (!any, !any)
    %function = transform.structured.match ops{["func.func"]} in %program : (!any) -> !any
    transform.apply_patterns to %function {
      transform.apply_patterns.canonicalization
    } : !any
    transform.apply_cse to %function : !any
    %buffers = transform.apply_registered_pass "workgroup-bufferize" to %program : (!any) -> !any
    // the outer step of K, in workgroup memory
    %m0 = transform.structured.match ops{["linalg.matmul"]} in %buffers : (!any) -> !any
    %m1, %outer = transform.structured.tile_using_for %m0 tile_sizes [0, 0, 256]
        : (!any) -> (!any, !any)
    %m2 = transform.structured.promote %m1 {
        operands_to_promote = [0, 1], memory_space = 1 : i64, use_full_tiles_by_default}
        : (!any) -> !any
    // threads or warps
    %m3, %cores = transform.structured.tile_using_forall %m2 tile_sizes [4, 4]
        (mapping = [#gpu.thread<y>, #gpu.thread<x>]) : (!any) -> (!any, !any)
    // the inner step of K, in memory of the thread
    %m4, %inner = transform.structured.tile_using_for %m3 tile_sizes [0, 0, 32]
        : (!any) -> (!any, !any)
    %m5 = transform.structured.promote %m4 {
        operands_to_promote = [0, 1], memory_space = 2 : i64} : (!any) -> !any
    %all = transform.structured.match ops{["func.func"]} in %buffers : (!any) -> !any
    transform.apply_patterns to %all {
      transform.apply_patterns.canonicalization
    } : !any
    transform.apply_cse to %all : !any
    transform.apply_patterns to %all {
      transform.apply_patterns.canonicalization
    } : !any
    transform.yield
  }
}
