//===- Workgroup.td - The dialect `workgroup` --------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream lacks between a loop that copies tiles to workgroup memory and
// the asynchronous copies, waits and barriers of a pipelined one.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_IR_WORKGROUP
#define WORKGROUP_IR_WORKGROUP

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

def Workgroup_Dialect : Dialect {
  let name = "workgroup";
  let cppNamespace = "::mlir::workgroup";
  let summary = "Tiles in workgroup memory: rings of them, and what fills them";
  let description = [{
    A *ring* is a queue of slots in workgroup memory. Each slot holds one or more tiles. The
    producer takes an empty slot by `put` and hands it over by `commit`. The consumer takes a
    full slot by `get` and returns it by `release`:

    ```mlir
    %ring = workgroup.ring : !workgroup.ring<3 slots of memref<64x32xf16, #gpu.address_space<workgroup>>>
    scf.for %k = %c0 to %K step %c32 {
      %source = memref.subview %A[%m, %k] [64, 32] [1, 1] : ...
      %empty = workgroup.put %ring : !workgroup.ring<...> -> memref<64x32xf16, ...>
      workgroup.copy %source to %empty : ...
      workgroup.commit %ring : !workgroup.ring<...>
      %full = workgroup.get %ring : !workgroup.ring<...> -> memref<64x32xf16, ...>
      ... reads %full ...
      workgroup.release %ring : !workgroup.ring<...>
    }
    ```

    All operations are collective: every thread of the block executes them, in uniform control
    flow. Executed in program order they are a queue, so an iteration that puts and gets one
    slot has the meaning of plain copies. Several slots let `workgroup-lower-rings` start copies
    ahead of their readers.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

def Workgroup_TileLayoutAttr
    : AttrDef<Workgroup_Dialect, "TileLayout",
              [DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
                                           ["isIdentity", "verifyLayout",
                                            "getStridesAndOffset"]>]> {
  let mnemonic = "tile";
  let summary = "Where the elements of a tile are in workgroup memory";
  let description = [{
    The layout of a tile of `rows` x `columns` elements, as tensor copies and matrix
    instructions of the hardware define it. Columns are cut into boxes of `width` elements. Each
    box is `rows` x `width`, row-major. The 16-byte chunk `c` in row `r` of a box is stored at
    chunk `c ^ (((r >> shift) & mask) << scale)` of that row. `chunk` is the number of elements
    in 16 bytes.

    For elements of 2 bytes, the hardware's swizzles of 128, 64 and 32 bytes are
    `<RxC by 64, chunk 8, xor 0, 7, 0>`, `<RxC by 32, chunk 8, xor 1, 3, 0>` and
    `<RxC by 16, chunk 8, xor 2, 1, 0>`.

    The layout is not strided, and code that indexes memrefs by strides refuses it. As an affine
    map it is exact: each bit of the exclusive or is a sum modulo two. Upstream's
    `normalize-memrefs` computes with that map; with a mask of three bits (the swizzle of 128
    bytes) it runs out of memory.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$width,
      "int64_t":$chunk, "int64_t":$shift, "int64_t":$mask, "int64_t":$scale);
  let assemblyFormat = [{
    `<` custom<TileShape>($rows, $columns) `by` $width `,` `chunk` $chunk `,`
    `xor` $shift `,` $mask `,` $scale `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout of `rows` x `columns` elements of `elementBytes` bytes in the widest boxes
    /// that the hardware swizzles: rows of 128, 64 or 32 bytes. Null if there is none.
    static TileLayoutAttr getSwizzled(::mlir::MLIRContext *context, int64_t rows, int64_t columns,
                                      int64_t elementBytes);
    /// The bytes of a row of a box, if the hardware swizzles such boxes so; else 0.
    int64_t getSwizzleBytes(int64_t elementBytes) const;
    int64_t getNumElements() const { return getRows() * getColumns(); }
  }];
}

def Workgroup_RingType : TypeDef<Workgroup_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "A queue of slots of tiles in workgroup memory";
  let description = [{
    `slots` slots, each of one tile of every one of `tiles`: memrefs of static
    shape in workgroup memory.
  }];
  let parameters = (ins "int64_t":$slots,
                        ArrayRefParameter<"::mlir::MemRefType">:$tiles);
  let assemblyFormat = "`<` $slots `slots` `of` $tiles `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Workgroup_Op<string mnemonic, list<Trait> traits = []>
    : Op<Workgroup_Dialect, mnemonic, traits>;

def Workgroup_RingOp : Workgroup_Op<"ring", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Make a ring whose slots are all empty";
  let description = [{
    There is one ring for each block of threads. Along every path, `put` and `commit` alternate.
    At most as many slots are put as the ring has; only committed slots are got, and only slots
    that were got are released. In each iteration of a loop, as many slots are released as put,
    and as many got as committed.

    With `producers`, the block should get that many additional threads, in whole warps, that
    only fill slots, if possible (`workgroup-specialize-warps`). With `blocks`, that
    many blocks should go through all tiles of such a kernel (`workgroup-persist-grid`).
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$producers,
                       OptionalAttr<I64Attr>:$blocks);
  let results = (outs Workgroup_RingType:$ring);
  let assemblyFormat = "attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}

class Workgroup_SlotOp<string mnemonic>
    : Workgroup_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins Workgroup_RingType:$ring);
}

class Workgroup_TakeOp<string mnemonic> : Workgroup_SlotOp<mnemonic> {
  let results = (outs Variadic<AnyMemRef>:$tiles);
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring)) `->` type($tiles)";
  let hasVerifier = 1;
}

class Workgroup_GiveOp<string mnemonic> : Workgroup_SlotOp<mnemonic> {
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring))";
}

def Workgroup_PutOp : Workgroup_TakeOp<"put"> {
  let summary = "Wait for an empty slot, and return its tiles for writing";
}

def Workgroup_CommitOp : Workgroup_GiveOp<"commit"> {
  let summary = "Mark the slot put last as full once its copies are done";
}

def Workgroup_GetOp : Workgroup_TakeOp<"get"> {
  let summary = "Wait for the next full slot, and return its tiles for reading";
}

def Workgroup_ReleaseOp : Workgroup_SlotOp<"release"> {
  let summary = "Mark the oldest slot that was got as empty";
  let description = [{
    With a `lag` of N, the slot of the N-th release before this one becomes empty instead, as
    readers of a slot may still be in flight until then (`workgroup.group_product` with
    `pending`). The last slots become empty after the surrounding loop, when their readers are
    done.
  }];
  let arguments = (ins Workgroup_RingType:$ring, DefaultValuedAttr<I64Attr, "0">:$lag);
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring))";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ring), [{
      build($_builder, $_state, ring, /*lag=*/0);
    }]>,
  ];
  let hasVerifier = 1;
}

def Workgroup_CopyOp : Workgroup_Op<"copy"> {
  let summary = "Fill a tile from a view, padded with zeros";
  let description = [{
    Element (i, j, ...) of `tile` becomes that of `source`, or zero where `source` has none. The
    extents of `source` must not exceed those of `tile`. The block executes the copy once,
    before any thread gets the slot.

    Ranks and element types are equal; `tile` is static.

    With `in`, `tile` is the storage of a tile of that layout: a memref of rank 1 with as many
    elements. `source` has the shape of the layout, which maps its element (i, j) to an element
    of the storage.

    ```mlir
    workgroup.copy %rows to %tile in #workgroup.tile<128x64 by 64, chunk 8, xor 0, 7, 0>
        : memref<128x64xf16, strided<[4096, 1], offset: ?>> to memref<8192xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "read", [MemRead]>:$source,
                       Arg<AnyMemRef, "written", [MemWrite]>:$tile,
                       OptionalAttr<Workgroup_TileLayoutAttr>:$layout);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$tile), [{
      build($_builder, $_state, source, tile, TileLayoutAttr());
    }]>,
  ];
  let assemblyFormat = [{
    $source `to` $tile (`in` $layout^)? attr-dict `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def Workgroup_GatherOp : Workgroup_Op<"gather", [AttrSizedOperandSegments]> {
  let summary = "Fill a tile with elements of a memref that a map selects";
  let description = [{
    Element `i` of `tile`, where `i` is a list of indices, becomes element `map(i)[symbols]` of
    `source`. It becomes zero if `source` has no such element, or if an index of `i` is not
    below the corresponding number in `extents`, where these are given. The block executes the
    gather once; in a ring, before any thread gets the slot.

    ```mlir
    // The pixels that are multiplied with one weight of a filter of stride 2.
    #pixels = affine_map<(y, x, c)[dy, dx] -> (y * 2 + dy, x * 2 + dx, c)>
    workgroup.gather %image by #pixels [%dy, %dx] to %tile
        : memref<64x64x32xf16> to memref<8x16x32xf16, #gpu.address_space<workgroup>>
    ```

    `map` has one dimension for each of `tile`, and one result for each of `source`. `extents`
    is empty, or has one entry for each dimension of `tile`. `tile` is static. Element types are
    equal.
  }];
  let arguments = (ins Arg<AnyMemRef, "read", [MemRead]>:$source,
                       AffineMapAttr:$map, Variadic<Index>:$symbols,
                       Variadic<Index>:$extents,
                       Arg<AnyMemRef, "written", [MemWrite]>:$tile);
  let assemblyFormat = [{
    $source `by` $map (`[` $symbols^ `]`)? (`within` `[` $extents^ `]`)? `to` $tile
    attr-dict `:` type($source) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def Workgroup_GroupProductOp
    : Workgroup_Op<"group_product", [AllTypesMatch<["sums", "results"]>]> {
  let summary = "Multiply two tiles by the tensor cores of a warp group";
  let description = [{
    One warp group adds the product of 64 rows of `lhs` and 8 columns of `rhs` to each of
    `sums`, by `wgmma` (sm_90a). A warp group is four warps, the first of which has a number
    divisible by four. All of its threads execute the operation together. It reads both tiles
    from workgroup memory through the asynchronous proxy, and waits until the product is done.

    With a `pending` of N, up to N products, this one included, may still be in flight after the
    operation. A product is done when N more have been executed, or at
    `workgroup.await_products`. Until then its tiles must not change, and its results may only
    be added to by other products, carried by loops, or awaited.

    `lhs` and `rhs` are the storage of tiles: memrefs of rank 1 whose elements are where the
    layouts place them. A row of `lhs` is a row of the result, and its columns are the steps of
    the sum. A row of `rhs` is a step of the sum, and its columns are those of the result.
    `transpose_lhs` and `transpose_rhs` exchange rows and columns. The rows of the result begin
    at `row`, a multiple of 64, and its columns at `column`, a multiple of 8. Both are uniform
    over the warp group.

    Factors are f16, bf16 or 8-bit floats, with sums in f32, or i8, with sums in i32, which wrap
    around. i8 factors are signed, unless `unsigned_lhs` or `unsigned_rhs` is set.

    In lane `l` of warp `w`, sum `j` is a `vector<2x2xT>`. It holds rows `16 * (w % 4) + l / 4`
    and that plus 8, each with columns `8 * j + 2 * (l % 4)` and the next.

    ```mlir
    %d:32 = workgroup.group_product %a[%row] in #workgroup.tile<128x64 by 64, chunk 8, xor 0, 7, 0>,
        %b[%c0] in #workgroup.tile<64x256 by 64, chunk 8, xor 0, 7, 0> to %c#0, ..., %c#31
        : memref<8192xf16, #gpu.address_space<workgroup>>, memref<16384xf16, #gpu.address_space<workgroup>> to vector<2x2xf32>, ...
    ```

    Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
  }];
  let arguments = (ins
      Arg<MemRefRankOf<[AnyType], [1]>, "read", [MemRead]>:$lhs, Index:$row,
      Workgroup_TileLayoutAttr:$lhs_layout, UnitAttr:$transpose_lhs,
      Arg<MemRefRankOf<[AnyType], [1]>, "read", [MemRead]>:$rhs, Index:$column,
      Workgroup_TileLayoutAttr:$rhs_layout, UnitAttr:$transpose_rhs,
      Variadic<AnyVectorOfNonZeroRank>:$sums,
      DefaultValuedAttr<I64Attr, "0">:$pending,
      UnitAttr:$unsigned_lhs, UnitAttr:$unsigned_rhs);
  let results = (outs Variadic<AnyVectorOfNonZeroRank>:$results);
  let assemblyFormat = [{
    $lhs `[` $row `]` `in` $lhs_layout `,` $rhs `[` $column `]` `in` $rhs_layout `to` $sums
    attr-dict `:` type($lhs) `,` type($rhs) `to` type($sums)
  }];
  let extraClassDeclaration = [{
    /// Rows of the result, and columns of a sum.
    static constexpr int64_t kRows = 64, kColumns = 8;

    /// The columns of the result that the operation computes, and the steps of the sum.
    int64_t getNumColumns() { return getSums().size() * kColumns; }
    int64_t getNumSteps() {
      return getTransposeLhs() ? getLhsLayout().getRows() : getLhsLayout().getColumns();
    }
  }];
  let hasVerifier = 1;
}

def Workgroup_AwaitProductsOp
    : Workgroup_Op<"await_products",
                   [AllTypesMatch<["sums", "results"]>,
                    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait for all products of a warp group in flight";
  let description = [{
    The results are the final values of `sums`, which are results of products with `pending`.
    All threads of the warp group execute the operation together.
  }];
  let arguments = (ins Variadic<AnyVectorOfNonZeroRank>:$sums);
  let results = (outs Variadic<AnyVectorOfNonZeroRank>:$results);
  let assemblyFormat = "$sums attr-dict `:` type($sums)";
}

//===----------------------------------------------------------------------===//
// Warps with different work
//===----------------------------------------------------------------------===//

def Workgroup_SpecializeOp
    : Workgroup_Op<"specialize", [NoRegionArguments, NoTerminator,
                                  RecursiveMemoryEffects]> {
  let summary = "Let some warps fill rings and others read them";
  let description = [{
    The first `consumers` threads of the block execute the region `consumer`. The next
    `producers` threads execute the region `producer`. Control flow is uniform within each of
    the two. Producers put and commit slots of rings; consumers get and release them. Both do so
    equally often in all.

    With `registers`, each consumer requests the first number of registers, and each producer
    keeps the second. This requires warp groups (multiples of 128 threads) on sm_90a.

    ```mlir
    workgroup.specialize {consumers = 256 : i64, producers = 128 : i64} consumer {
      scf.for %k = %c0 to %K step %c64 { get; ...; release }
    } producer {
      scf.for %k = %c0 to %K step %c64 { put; ...; commit }
    }
    ```
  }];
  let arguments = (ins I64Attr:$consumers, I64Attr:$producers,
                       OptionalAttr<DenseI64ArrayAttr>:$registers);
  let regions = (region MaxSizedRegion<1>:$consumer, MaxSizedRegion<1>:$producer);
  let assemblyFormat = "attr-dict `consumer` $consumer `producer` $producer";
  let hasVerifier = 1;
}

#endif // WORKGROUP_IR_WORKGROUP
