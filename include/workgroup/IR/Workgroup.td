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
    A *ring* is a queue of slots in workgroup memory, each of which holds one
    or more tiles. Who fills it takes an empty slot by `put` and hands it over by
    `commit`; who reads it takes a full slot by `get` and gives it back by
    `release`:

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

    All operations are work of the block: every thread executes them, in uniform
    control flow. Executed one after the other they are a queue, and an iteration that
    puts and gets means what its copies meant. That slots are more than one is
    what lets `workgroup-lower-rings` run the copies ahead of their readers.
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
    The layout of a tile of `rows` x `columns` elements, as tensor copies and
    matrix instructions of the hardware have it. Columns are cut into boxes of
    `width` elements, each box is `rows` x `width` row-major, and the chunk of 16
    bytes number `c` in row `r` of a box is at chunk
    `c ^ (((r >> shift) & mask) << scale)` of that row. `chunk` is the number of
    elements in 16 bytes.

    For elements of 2 bytes, the hardware's swizzles of 128, 64 and 32 bytes are
    `<RxC by 64, chunk 8, xor 0, 7, 0>`, `<RxC by 32, chunk 8, xor 1, 3, 0>` and
    `<RxC by 16, chunk 8, xor 2, 1, 0>`.

    It is no strided layout: what indexes memrefs by strides refuses it. As an
    affine map it is exact, each bit of the exclusive or being a sum modulo two.
    Upstream's `normalize-memrefs` computes with that map; with a mask of three
    bits (the swizzle of 128 bytes) it runs out of memory.
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
    There is one ring for each block of threads. Along every path, `put` and
    `commit` take turns; no more slots are put than there are, none is got that
    is not committed, none released that is not got. In each iteration of a loop as
    many slots are released as put, and as many got as committed.

    With `producers`, a block is to get so many threads more that only fill slots, whole warps, if
    that can be (`workgroup-specialize-warps`).
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$producers);
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
  let summary = "Wait for an empty slot, and give its tiles for writing";
}

def Workgroup_CommitOp : Workgroup_GiveOp<"commit"> {
  let summary = "The slot put last becomes full when the copies to it are done";
}

def Workgroup_GetOp : Workgroup_TakeOp<"get"> {
  let summary = "Wait for the next full slot, and give its tiles for reading";
}

def Workgroup_ReleaseOp : Workgroup_SlotOp<"release"> {
  let summary = "The slot got first of those not yet released becomes empty";
  let description = [{
    With a `lag`, it is the slot that was to be released so many times before that becomes empty:
    what has read a slot may be under way until then (`workgroup.group_product` with `pending`).
    The last slots become empty when the loop around is left, with what reads them done.
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
  let summary = "Fill a tile from a view, with zeros where that is smaller";
  let description = [{
    Element (i, j, ...) of `tile` becomes that of `source`, or zero where
    `source` has none. The extents of `source` must not be larger than those of
    `tile`. Done once by the block, and before the slot is got by anybody.

    Shapes: equal ranks and element types; `tile` is static.

    With `in`, `tile` is the storage of a tile of that layout: a memref of rank 1 of as many
    elements, element (i, j) of `source`, of the shape of the layout, being where the layout puts it.

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
  let summary = "Fill a tile with the elements of a memref that a map finds";
  let description = [{
    Element `i` of `tile`, a list of indices, becomes element `map(i)[symbols]` of `source`. It
    becomes zero where that is no element of `source`, or an index of `i` is not below its number
    in `extents`, if these are given. Done once by the block; in a ring, before the slot is got by
    anybody.

    ```mlir
    // The pixels that are multiplied with one weight of a filter of stride 2.
    #pixels = affine_map<(y, x, c)[dy, dx] -> (y * 2 + dy, x * 2 + dx, c)>
    workgroup.gather %image by #pixels [%dy, %dx] to %tile
        : memref<64x64x32xf16> to memref<8x16x32xf16, #gpu.address_space<workgroup>>
    ```

    Shapes: `map` has a dimension for each of `tile` and a result for each of `source`; `extents`
    has none, or one for each dimension of `tile`, which is static. Equal element types.
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
    The warp group, four warps of which the first has a number divisible by four, adds the
    product of 64 rows of `lhs` and of 8 columns of `rhs` for each of `sums`, by `wgmma`
    (sm_90a). It reads both tiles by the asynchronous proxy, from workgroup memory, and is done
    when the operation is. All of its threads execute the operation together.

    With `pending`, so many products, this one the last of them, may be under way when the operation is
    done: this one is done when as many more were executed, or by
    `workgroup.await_products`. Until then its tiles must not change, and its results are only added
    to by other products, handed on by loops, or awaited.

    `lhs` and `rhs` are the storage of tiles: memrefs of rank 1, the elements of which are where the
    layouts put them. A row of `lhs` is a row of the result, and a column one of the sum; of `rhs`
    a row is one of the sum, and a column one of the result. With `transpose_lhs` and
    `transpose_rhs` it is the other way round. The rows of the result begin at `row`, a multiple of 64,
    its columns at `column`, a multiple of 8, both the same in all threads of the group.

    Factors are f16, bf16, floats of 8 bits, with sums in f32, or i8, with sums in i32, which wrap
    around. Those of i8 have a sign, but for `unsigned_lhs` and `unsigned_rhs`.

    Sum `j` of a lane `l` of warp `w` has rows `16 * (w % 4) + l / 4` and 8 rows after it, and of
    both columns `8 * j + 2 * (l % 4)` and the next: a `vector<2x2xT>`.

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
  let summary = "Wait for all products of a warp group that are under way";
  let description = [{
    The results are `sums`, of products with `pending`, when these are done. All threads of the
    warp group execute the operation together.
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
  let summary = "Let some warps fill rings, and the others read them";
  let description = [{
    The first `consumers` threads of the block execute `consumer`, those behind them, `producers`,
    execute `producer`, both in uniform control flow each. Rings are put and committed by producers,
    got and released by consumers, as often in all.

    With `registers`, each consumer asks for so many registers, the first number, and each producer is
    left with the second one: that takes warp groups, multiples of 128 threads, on sm_90a.

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
