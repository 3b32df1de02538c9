; workgroup bytes: 8192
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @matmul(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, i32 %3, i32 %4, i32 %5, ptr addrspace(1) nofree readnone captures(none) %6, ptr addrspace(1) nofree readnone captures(none) %7) local_unnamed_addr #0 !dbg !4 {
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !14
  %10 = shl i32 %9, 5, !dbg !14
  %11 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !15
  %12 = lshr i32 %11, 2, !dbg !15
  %13 = and i32 %12, 15, !dbg !15
  %14 = or disjoint i32 %13, 16, !dbg !15
  %15 = shl nuw nsw i32 %11, 3, !dbg !15
  %16 = and i32 %15, 24, !dbg !15
  %17 = or disjoint i32 %13, %10, !dbg !14
  %18 = or disjoint i32 %14, %10, !dbg !14
  %19 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y(), !dbg !16
  %20 = shl nuw nsw i32 %19, 5, !dbg !16
  %21 = or disjoint i32 %16, %20, !dbg !16
  %22 = mul i32 %5, %17, !dbg !17
  %23 = mul i32 %5, %18, !dbg !17
  %24 = sext i32 %22 to i64, !dbg !18
  %25 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %24, !dbg !18
  %26 = sext i32 %23 to i64, !dbg !18
  %27 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %26, !dbg !18
  %28 = icmp sgt i32 %5, 0, !dbg !19
  %29 = zext nneg i32 %16 to i64, !dbg !18
  %30 = getelementptr [2 x i8], ptr addrspace(1) %25, i64 %29, !dbg !18
  %31 = getelementptr [2 x i8], ptr addrspace(1) %27, i64 %29, !dbg !18
  %32 = shl nuw nsw i32 %11, 4, !dbg !20
  %33 = and i32 %32, 1008, !dbg !20
  %34 = and i32 %11, 24, !dbg !20
  %35 = shl nuw nsw i32 %34, 1, !dbg !20
  %36 = xor i32 %33, %35, !dbg !20
  %37 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %36, !dbg !20
  %38 = select i1 %28, i32 16, i32 0, !dbg !20
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %37, ptr addrspace(1) %30, i32 %38) #2, !dbg !20
  %39 = or disjoint i32 %36, 1024, !dbg !20
  %40 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %39, !dbg !20
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %40, ptr addrspace(1) %31, i32 %38) #2, !dbg !20
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !20
  %41 = mul i32 %4, %13, !dbg !21
  %42 = mul i32 %4, %14, !dbg !21
  %43 = sext i32 %41 to i64, !dbg !22
  %44 = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %43, !dbg !22
  %45 = sext i32 %42 to i64, !dbg !22
  %46 = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %45, !dbg !22
  %47 = zext nneg i32 %21 to i64, !dbg !22
  %48 = getelementptr [2 x i8], ptr addrspace(1) %44, i64 %47, !dbg !22
  %49 = getelementptr [2 x i8], ptr addrspace(1) %46, i64 %47, !dbg !22
  %50 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %36, !dbg !23
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %50, ptr addrspace(1) %48, i32 %38) #2, !dbg !23
  %51 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %39, !dbg !23
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %51, ptr addrspace(1) %49, i32 %38) #2, !dbg !23
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !23
  %52 = icmp sgt i32 %5, 32, !dbg !19
  %53 = or disjoint i32 %16, 32, !dbg !24
  %54 = or disjoint i32 %13, 32, !dbg !24
  %55 = or disjoint i32 %13, 48, !dbg !24
  %56 = zext nneg i32 %53 to i64, !dbg !18
  %57 = getelementptr [2 x i8], ptr addrspace(1) %25, i64 %56, !dbg !18
  %58 = getelementptr [2 x i8], ptr addrspace(1) %27, i64 %56, !dbg !18
  %59 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 2048), i32 %36, !dbg !20
  %60 = select i1 %52, i32 16, i32 0, !dbg !20
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %59, ptr addrspace(1) %57, i32 %60) #2, !dbg !20
  %61 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 2048), i32 %39, !dbg !20
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %61, ptr addrspace(1) %58, i32 %60) #2, !dbg !20
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !20
  %62 = mul i32 %4, %54, !dbg !21
  %63 = mul i32 %4, %55, !dbg !21
  %64 = sext i32 %62 to i64, !dbg !22
  %65 = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %64, !dbg !22
  %66 = sext i32 %63 to i64, !dbg !22
  %67 = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %66, !dbg !22
  %68 = getelementptr [2 x i8], ptr addrspace(1) %65, i64 %47, !dbg !22
  %69 = getelementptr [2 x i8], ptr addrspace(1) %67, i64 %47, !dbg !22
  %70 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 6144), i32 %36, !dbg !23
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %70, ptr addrspace(1) %68, i32 %60) #2, !dbg !23
  %71 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 6144), i32 %39, !dbg !23
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %71, ptr addrspace(1) %69, i32 %60) #2, !dbg !23
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !23
  tail call void @llvm.nvvm.cp.async.wait.group(i32 2), !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  %72 = shl nuw nsw i32 %11, 6, !dbg !20
  %73 = and i32 %72, 960, !dbg !20
  %74 = and i32 %15, 48, !dbg !20
  %75 = and i32 %11, 16, !dbg !20
  %76 = or disjoint i32 %73, %74, !dbg !20
  %77 = xor i32 %76, %75, !dbg !20
  %78 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %77, !dbg !20
  %79 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %78), !dbg !20
  %80 = or disjoint i32 %77, 1024, !dbg !20
  %81 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %80, !dbg !20
  %82 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) nonnull %81), !dbg !20
  %83 = shl nuw nsw i32 %75, 1, !dbg !23
  %84 = and i32 %11, 32, !dbg !23
  %85 = lshr exact i32 %84, 1, !dbg !23
  %86 = or disjoint i32 %83, %85, !dbg !23
  %87 = xor i32 %76, %86, !dbg !23
  %88 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %87, !dbg !23
  %89 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %88), !dbg !23
  %invariant.gep = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %47, !dbg !19
  br i1 %28, label %.lr.ph, label %._crit_edge, !dbg !19

.lr.ph:                                           ; preds = %8
  %90 = extractvalue { i32, i32, i32, i32 } %89, 3, !dbg !23
  %91 = bitcast i32 %90 to <2 x half>, !dbg !23
  %92 = extractelement <2 x half> %91, i64 1, !dbg !23
  %93 = extractelement <2 x half> %91, i64 0, !dbg !23
  %94 = extractvalue { i32, i32, i32, i32 } %89, 2, !dbg !23
  %95 = bitcast i32 %94 to <2 x half>, !dbg !23
  %96 = extractelement <2 x half> %95, i64 1, !dbg !23
  %97 = extractelement <2 x half> %95, i64 0, !dbg !23
  %98 = extractvalue { i32, i32, i32, i32 } %89, 1, !dbg !23
  %99 = bitcast i32 %98 to <2 x half>, !dbg !23
  %100 = extractelement <2 x half> %99, i64 1, !dbg !23
  %101 = extractelement <2 x half> %99, i64 0, !dbg !23
  %102 = extractvalue { i32, i32, i32, i32 } %89, 0, !dbg !23
  %103 = bitcast i32 %102 to <2 x half>, !dbg !23
  %104 = extractelement <2 x half> %103, i64 1, !dbg !23
  %105 = extractelement <2 x half> %103, i64 0, !dbg !23
  %106 = extractvalue { i32, i32, i32, i32 } %82, 3, !dbg !20
  %107 = bitcast i32 %106 to <2 x half>, !dbg !20
  %108 = extractelement <2 x half> %107, i64 1, !dbg !20
  %109 = extractelement <2 x half> %107, i64 0, !dbg !20
  %110 = extractvalue { i32, i32, i32, i32 } %82, 2, !dbg !20
  %111 = bitcast i32 %110 to <2 x half>, !dbg !20
  %112 = extractelement <2 x half> %111, i64 1, !dbg !20
  %113 = extractelement <2 x half> %111, i64 0, !dbg !20
  %114 = extractvalue { i32, i32, i32, i32 } %82, 1, !dbg !20
  %115 = bitcast i32 %114 to <2 x half>, !dbg !20
  %116 = extractelement <2 x half> %115, i64 1, !dbg !20
  %117 = extractelement <2 x half> %115, i64 0, !dbg !20
  %118 = extractvalue { i32, i32, i32, i32 } %82, 0, !dbg !20
  %119 = bitcast i32 %118 to <2 x half>, !dbg !20
  %120 = extractelement <2 x half> %119, i64 1, !dbg !20
  %121 = extractelement <2 x half> %119, i64 0, !dbg !20
  %122 = extractvalue { i32, i32, i32, i32 } %79, 3, !dbg !20
  %123 = bitcast i32 %122 to <2 x half>, !dbg !20
  %124 = extractelement <2 x half> %123, i64 1, !dbg !20
  %125 = extractelement <2 x half> %123, i64 0, !dbg !20
  %126 = extractvalue { i32, i32, i32, i32 } %79, 2, !dbg !20
  %127 = bitcast i32 %126 to <2 x half>, !dbg !20
  %128 = extractelement <2 x half> %127, i64 1, !dbg !20
  %129 = extractelement <2 x half> %127, i64 0, !dbg !20
  %130 = extractvalue { i32, i32, i32, i32 } %79, 1, !dbg !20
  %131 = bitcast i32 %130 to <2 x half>, !dbg !20
  %132 = extractelement <2 x half> %131, i64 1, !dbg !20
  %133 = extractelement <2 x half> %131, i64 0, !dbg !20
  %134 = extractvalue { i32, i32, i32, i32 } %79, 0, !dbg !20
  %135 = bitcast i32 %134 to <2 x half>, !dbg !20
  %136 = extractelement <2 x half> %135, i64 1, !dbg !20
  %137 = extractelement <2 x half> %135, i64 0, !dbg !20
  %138 = add nsw i32 %5, -64
  %139 = xor i32 %77, 32
  br label %140, !dbg !19

140:                                              ; preds = %.lr.ph, %140
  %.pn34104 = phi half [ %92, %.lr.ph ], [ %322, %140 ]
  %.pn36103 = phi half [ %93, %.lr.ph ], [ %321, %140 ]
  %.pn38102 = phi half [ %96, %.lr.ph ], [ %319, %140 ]
  %.pn40101 = phi half [ %97, %.lr.ph ], [ %318, %140 ]
  %.pn42100 = phi half [ %100, %.lr.ph ], [ %316, %140 ]
  %.pn4499 = phi half [ %101, %.lr.ph ], [ %315, %140 ]
  %.pn4698 = phi half [ %104, %.lr.ph ], [ %313, %140 ]
  %.pn4897 = phi half [ %105, %.lr.ph ], [ %312, %140 ]
  %.pn296 = phi half [ %108, %.lr.ph ], [ %304, %140 ]
  %.pn495 = phi half [ %109, %.lr.ph ], [ %303, %140 ]
  %.pn694 = phi half [ %112, %.lr.ph ], [ %301, %140 ]
  %.pn893 = phi half [ %113, %.lr.ph ], [ %300, %140 ]
  %.pn1092 = phi half [ %116, %.lr.ph ], [ %298, %140 ]
  %.pn1291 = phi half [ %117, %.lr.ph ], [ %297, %140 ]
  %.pn1490 = phi half [ %120, %.lr.ph ], [ %295, %140 ]
  %.pn1689 = phi half [ %121, %.lr.ph ], [ %294, %140 ]
  %.pn1888 = phi half [ %124, %.lr.ph ], [ %286, %140 ]
  %.pn2087 = phi half [ %125, %.lr.ph ], [ %285, %140 ]
  %.pn2286 = phi half [ %128, %.lr.ph ], [ %283, %140 ]
  %.pn2485 = phi half [ %129, %.lr.ph ], [ %282, %140 ]
  %.pn2684 = phi half [ %132, %.lr.ph ], [ %280, %140 ]
  %.pn2883 = phi half [ %133, %.lr.ph ], [ %279, %140 ]
  %.pn3082 = phi half [ %136, %.lr.ph ], [ %277, %140 ]
  %.pn3281 = phi half [ %137, %.lr.ph ], [ %276, %140 ]
  %141 = phi ptr addrspace(3) [ getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), %.lr.ph ], [ %268, %140 ]
  %142 = phi ptr addrspace(3) [ @global_smem, %.lr.ph ], [ %267, %140 ]
  %143 = phi i32 [ -1, %.lr.ph ], [ %165, %140 ]
  %144 = phi i32 [ 1, %.lr.ph ], [ %243, %140 ]
  %145 = phi float [ 0.000000e+00, %.lr.ph ], [ %324, %140 ]
  %146 = phi float [ 0.000000e+00, %.lr.ph ], [ %325, %140 ]
  %147 = phi float [ 0.000000e+00, %.lr.ph ], [ %326, %140 ]
  %148 = phi float [ 0.000000e+00, %.lr.ph ], [ %327, %140 ]
  %149 = phi float [ 0.000000e+00, %.lr.ph ], [ %329, %140 ]
  %150 = phi float [ 0.000000e+00, %.lr.ph ], [ %330, %140 ]
  %151 = phi float [ 0.000000e+00, %.lr.ph ], [ %331, %140 ]
  %152 = phi float [ 0.000000e+00, %.lr.ph ], [ %332, %140 ]
  %153 = phi float [ 0.000000e+00, %.lr.ph ], [ %334, %140 ]
  %154 = phi float [ 0.000000e+00, %.lr.ph ], [ %335, %140 ]
  %155 = phi float [ 0.000000e+00, %.lr.ph ], [ %336, %140 ]
  %156 = phi float [ 0.000000e+00, %.lr.ph ], [ %337, %140 ]
  %157 = phi float [ 0.000000e+00, %.lr.ph ], [ %339, %140 ]
  %158 = phi float [ 0.000000e+00, %.lr.ph ], [ %340, %140 ]
  %159 = phi float [ 0.000000e+00, %.lr.ph ], [ %341, %140 ]
  %160 = phi float [ 0.000000e+00, %.lr.ph ], [ %342, %140 ]
  %161 = phi i32 [ 0, %.lr.ph ], [ %343, %140 ]
  %162 = icmp slt i32 %161, %138, !dbg !19
  %163 = add i32 %143, 1, !dbg !19
  %164 = icmp sgt i32 %163, 1, !dbg !19
  %165 = select i1 %164, i32 0, i32 %163, !dbg !19
  tail call void @llvm.nvvm.cp.async.wait.group(i32 2), !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  %166 = getelementptr inbounds nuw i8, ptr addrspace(3) %142, i32 %139, !dbg !20
  %167 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %166), !dbg !20
  %168 = extractvalue { i32, i32, i32, i32 } %167, 0, !dbg !20
  %169 = extractvalue { i32, i32, i32, i32 } %167, 1, !dbg !20
  %170 = extractvalue { i32, i32, i32, i32 } %167, 2, !dbg !20
  %171 = extractvalue { i32, i32, i32, i32 } %167, 3, !dbg !20
  %172 = getelementptr inbounds nuw i8, ptr addrspace(3) %166, i32 1024, !dbg !20
  %173 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) nonnull %172), !dbg !20
  %174 = extractvalue { i32, i32, i32, i32 } %173, 0, !dbg !20
  %175 = extractvalue { i32, i32, i32, i32 } %173, 1, !dbg !20
  %176 = extractvalue { i32, i32, i32, i32 } %173, 2, !dbg !20
  %177 = extractvalue { i32, i32, i32, i32 } %173, 3, !dbg !20
  %178 = getelementptr inbounds nuw i8, ptr addrspace(3) %141, i32 %87, !dbg !23
  %179 = getelementptr inbounds nuw i8, ptr addrspace(3) %178, i32 1024, !dbg !23
  %180 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) nonnull %179), !dbg !23
  %181 = extractvalue { i32, i32, i32, i32 } %180, 0, !dbg !23
  %182 = extractvalue { i32, i32, i32, i32 } %180, 1, !dbg !23
  %183 = extractvalue { i32, i32, i32, i32 } %180, 2, !dbg !23
  %184 = extractvalue { i32, i32, i32, i32 } %180, 3, !dbg !23
  %185 = insertelement <2 x half> poison, half %.pn3281, i64 0, !dbg !25
  %186 = insertelement <2 x half> %185, half %.pn3082, i64 1, !dbg !25
  %187 = bitcast <2 x half> %186 to i32, !dbg !25
  %188 = insertelement <2 x half> poison, half %.pn2883, i64 0, !dbg !25
  %189 = insertelement <2 x half> %188, half %.pn2684, i64 1, !dbg !25
  %190 = bitcast <2 x half> %189 to i32, !dbg !25
  %191 = insertelement <2 x half> poison, half %.pn2485, i64 0, !dbg !25
  %192 = insertelement <2 x half> %191, half %.pn2286, i64 1, !dbg !25
  %193 = bitcast <2 x half> %192 to i32, !dbg !25
  %194 = insertelement <2 x half> poison, half %.pn2087, i64 0, !dbg !25
  %195 = insertelement <2 x half> %194, half %.pn1888, i64 1, !dbg !25
  %196 = bitcast <2 x half> %195 to i32, !dbg !25
  %197 = insertelement <2 x half> poison, half %.pn1689, i64 0, !dbg !25
  %198 = insertelement <2 x half> %197, half %.pn1490, i64 1, !dbg !25
  %199 = bitcast <2 x half> %198 to i32, !dbg !25
  %200 = insertelement <2 x half> poison, half %.pn1291, i64 0, !dbg !25
  %201 = insertelement <2 x half> %200, half %.pn1092, i64 1, !dbg !25
  %202 = bitcast <2 x half> %201 to i32, !dbg !25
  %203 = insertelement <2 x half> poison, half %.pn893, i64 0, !dbg !25
  %204 = insertelement <2 x half> %203, half %.pn694, i64 1, !dbg !25
  %205 = bitcast <2 x half> %204 to i32, !dbg !25
  %206 = insertelement <2 x half> poison, half %.pn495, i64 0, !dbg !25
  %207 = insertelement <2 x half> %206, half %.pn296, i64 1, !dbg !25
  %208 = bitcast <2 x half> %207 to i32, !dbg !25
  %209 = insertelement <2 x half> poison, half %.pn4897, i64 0, !dbg !25
  %210 = insertelement <2 x half> %209, half %.pn4698, i64 1, !dbg !25
  %211 = bitcast <2 x half> %210 to i32, !dbg !25
  %212 = insertelement <2 x half> poison, half %.pn4499, i64 0, !dbg !25
  %213 = insertelement <2 x half> %212, half %.pn42100, i64 1, !dbg !25
  %214 = bitcast <2 x half> %213 to i32, !dbg !25
  %215 = insertelement <2 x half> poison, half %.pn40101, i64 0, !dbg !25
  %216 = insertelement <2 x half> %215, half %.pn38102, i64 1, !dbg !25
  %217 = bitcast <2 x half> %216 to i32, !dbg !25
  %218 = insertelement <2 x half> poison, half %.pn36103, i64 0, !dbg !25
  %219 = insertelement <2 x half> %218, half %.pn34104, i64 1, !dbg !25
  %220 = bitcast <2 x half> %219 to i32, !dbg !25
  %221 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %145, float %146, float %147, float %148, i32 %187, i32 %190, i32 %193, i32 %196, i32 %211, i32 %214) #2, !dbg !25
  %222 = extractvalue { float, float, float, float } %221, 0, !dbg !25
  %223 = extractvalue { float, float, float, float } %221, 1, !dbg !25
  %224 = extractvalue { float, float, float, float } %221, 2, !dbg !25
  %225 = extractvalue { float, float, float, float } %221, 3, !dbg !25
  %226 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %149, float %150, float %151, float %152, i32 %187, i32 %190, i32 %193, i32 %196, i32 %217, i32 %220) #2, !dbg !25
  %227 = extractvalue { float, float, float, float } %226, 0, !dbg !25
  %228 = extractvalue { float, float, float, float } %226, 1, !dbg !25
  %229 = extractvalue { float, float, float, float } %226, 2, !dbg !25
  %230 = extractvalue { float, float, float, float } %226, 3, !dbg !25
  %231 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %153, float %154, float %155, float %156, i32 %199, i32 %202, i32 %205, i32 %208, i32 %211, i32 %214) #2, !dbg !25
  %232 = extractvalue { float, float, float, float } %231, 0, !dbg !25
  %233 = extractvalue { float, float, float, float } %231, 1, !dbg !25
  %234 = extractvalue { float, float, float, float } %231, 2, !dbg !25
  %235 = extractvalue { float, float, float, float } %231, 3, !dbg !25
  %236 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %157, float %158, float %159, float %160, i32 %199, i32 %202, i32 %205, i32 %208, i32 %217, i32 %220) #2, !dbg !25
  %237 = extractvalue { float, float, float, float } %236, 0, !dbg !25
  %238 = extractvalue { float, float, float, float } %236, 1, !dbg !25
  %239 = extractvalue { float, float, float, float } %236, 2, !dbg !25
  %240 = extractvalue { float, float, float, float } %236, 3, !dbg !25
  %241 = add i32 %144, 1, !dbg !19
  %242 = icmp sgt i32 %241, 1, !dbg !19
  %243 = select i1 %242, i32 0, i32 %241, !dbg !19
  %244 = add i32 %161, 64, !dbg !19
  %245 = or disjoint i32 %244, %16, !dbg !24
  %246 = or disjoint i32 %244, %13, !dbg !24
  %247 = or disjoint i32 %244, %14, !dbg !24
  %248 = sext i32 %245 to i64, !dbg !18
  %249 = getelementptr [2 x i8], ptr addrspace(1) %25, i64 %248, !dbg !18
  %250 = getelementptr [2 x i8], ptr addrspace(1) %27, i64 %248, !dbg !18
  %251 = shl i32 %243, 10, !dbg !20
  %252 = getelementptr [2 x i8], ptr addrspace(3) @global_smem, i32 %251, !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  %253 = getelementptr inbounds nuw i8, ptr addrspace(3) %252, i32 %36, !dbg !20
  %254 = select i1 %162, i32 16, i32 0, !dbg !20
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %253, ptr addrspace(1) %249, i32 %254) #2, !dbg !20
  %255 = getelementptr inbounds nuw i8, ptr addrspace(3) %252, i32 %39, !dbg !20
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %255, ptr addrspace(1) %250, i32 %254) #2, !dbg !20
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !20
  %256 = mul i32 %246, %4, !dbg !21
  %257 = mul i32 %247, %4, !dbg !21
  %258 = sext i32 %256 to i64, !dbg !22
  %259 = sext i32 %257 to i64, !dbg !22
  %gep = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep, i64 %258, !dbg !22
  %gep80 = getelementptr [2 x i8], ptr addrspace(1) %invariant.gep, i64 %259, !dbg !22
  %260 = getelementptr [2 x i8], ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %251, !dbg !23
  %261 = getelementptr inbounds nuw i8, ptr addrspace(3) %260, i32 %36, !dbg !23
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %261, ptr addrspace(1) %gep, i32 %254) #2, !dbg !23
  %262 = getelementptr inbounds nuw i8, ptr addrspace(3) %260, i32 %39, !dbg !23
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %262, ptr addrspace(1) %gep80, i32 %254) #2, !dbg !23
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !23
  %263 = add i32 %165, 1, !dbg !19
  %264 = icmp sgt i32 %263, 1, !dbg !19
  %265 = shl i32 %263, 10, !dbg !20
  %266 = select i1 %264, i32 0, i32 %265, !dbg !19
  %267 = getelementptr [2 x i8], ptr addrspace(3) @global_smem, i32 %266, !dbg !20
  %268 = getelementptr [2 x i8], ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), i32 %266, !dbg !23
  tail call void @llvm.nvvm.cp.async.wait.group(i32 2), !dbg !20
  tail call void @llvm.nvvm.cp.async.wait.group(i32 2), !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  %269 = getelementptr inbounds nuw i8, ptr addrspace(3) %267, i32 %77, !dbg !20
  %270 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %269), !dbg !20
  %271 = extractvalue { i32, i32, i32, i32 } %270, 0, !dbg !20
  %272 = extractvalue { i32, i32, i32, i32 } %270, 1, !dbg !20
  %273 = extractvalue { i32, i32, i32, i32 } %270, 2, !dbg !20
  %274 = extractvalue { i32, i32, i32, i32 } %270, 3, !dbg !20
  %275 = bitcast i32 %271 to <2 x half>, !dbg !20
  %276 = extractelement <2 x half> %275, i64 0, !dbg !20
  %277 = extractelement <2 x half> %275, i64 1, !dbg !20
  %278 = bitcast i32 %272 to <2 x half>, !dbg !20
  %279 = extractelement <2 x half> %278, i64 0, !dbg !20
  %280 = extractelement <2 x half> %278, i64 1, !dbg !20
  %281 = bitcast i32 %273 to <2 x half>, !dbg !20
  %282 = extractelement <2 x half> %281, i64 0, !dbg !20
  %283 = extractelement <2 x half> %281, i64 1, !dbg !20
  %284 = bitcast i32 %274 to <2 x half>, !dbg !20
  %285 = extractelement <2 x half> %284, i64 0, !dbg !20
  %286 = extractelement <2 x half> %284, i64 1, !dbg !20
  %287 = getelementptr inbounds nuw i8, ptr addrspace(3) %267, i32 %80, !dbg !20
  %288 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) nonnull %287), !dbg !20
  %289 = extractvalue { i32, i32, i32, i32 } %288, 0, !dbg !20
  %290 = extractvalue { i32, i32, i32, i32 } %288, 1, !dbg !20
  %291 = extractvalue { i32, i32, i32, i32 } %288, 2, !dbg !20
  %292 = extractvalue { i32, i32, i32, i32 } %288, 3, !dbg !20
  %293 = bitcast i32 %289 to <2 x half>, !dbg !20
  %294 = extractelement <2 x half> %293, i64 0, !dbg !20
  %295 = extractelement <2 x half> %293, i64 1, !dbg !20
  %296 = bitcast i32 %290 to <2 x half>, !dbg !20
  %297 = extractelement <2 x half> %296, i64 0, !dbg !20
  %298 = extractelement <2 x half> %296, i64 1, !dbg !20
  %299 = bitcast i32 %291 to <2 x half>, !dbg !20
  %300 = extractelement <2 x half> %299, i64 0, !dbg !20
  %301 = extractelement <2 x half> %299, i64 1, !dbg !20
  %302 = bitcast i32 %292 to <2 x half>, !dbg !20
  %303 = extractelement <2 x half> %302, i64 0, !dbg !20
  %304 = extractelement <2 x half> %302, i64 1, !dbg !20
  %305 = getelementptr inbounds nuw i8, ptr addrspace(3) %268, i32 %87, !dbg !23
  %306 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %305), !dbg !23
  %307 = extractvalue { i32, i32, i32, i32 } %306, 0, !dbg !23
  %308 = extractvalue { i32, i32, i32, i32 } %306, 1, !dbg !23
  %309 = extractvalue { i32, i32, i32, i32 } %306, 2, !dbg !23
  %310 = extractvalue { i32, i32, i32, i32 } %306, 3, !dbg !23
  %311 = bitcast i32 %307 to <2 x half>, !dbg !23
  %312 = extractelement <2 x half> %311, i64 0, !dbg !23
  %313 = extractelement <2 x half> %311, i64 1, !dbg !23
  %314 = bitcast i32 %308 to <2 x half>, !dbg !23
  %315 = extractelement <2 x half> %314, i64 0, !dbg !23
  %316 = extractelement <2 x half> %314, i64 1, !dbg !23
  %317 = bitcast i32 %309 to <2 x half>, !dbg !23
  %318 = extractelement <2 x half> %317, i64 0, !dbg !23
  %319 = extractelement <2 x half> %317, i64 1, !dbg !23
  %320 = bitcast i32 %310 to <2 x half>, !dbg !23
  %321 = extractelement <2 x half> %320, i64 0, !dbg !23
  %322 = extractelement <2 x half> %320, i64 1, !dbg !23
  %323 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %222, float %223, float %224, float %225, i32 %168, i32 %169, i32 %170, i32 %171, i32 %181, i32 %182) #2, !dbg !25
  %324 = extractvalue { float, float, float, float } %323, 0, !dbg !25
  %325 = extractvalue { float, float, float, float } %323, 1, !dbg !25
  %326 = extractvalue { float, float, float, float } %323, 2, !dbg !25
  %327 = extractvalue { float, float, float, float } %323, 3, !dbg !25
  %328 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %227, float %228, float %229, float %230, i32 %168, i32 %169, i32 %170, i32 %171, i32 %183, i32 %184) #2, !dbg !25
  %329 = extractvalue { float, float, float, float } %328, 0, !dbg !25
  %330 = extractvalue { float, float, float, float } %328, 1, !dbg !25
  %331 = extractvalue { float, float, float, float } %328, 2, !dbg !25
  %332 = extractvalue { float, float, float, float } %328, 3, !dbg !25
  %333 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %232, float %233, float %234, float %235, i32 %174, i32 %175, i32 %176, i32 %177, i32 %181, i32 %182) #2, !dbg !25
  %334 = extractvalue { float, float, float, float } %333, 0, !dbg !25
  %335 = extractvalue { float, float, float, float } %333, 1, !dbg !25
  %336 = extractvalue { float, float, float, float } %333, 2, !dbg !25
  %337 = extractvalue { float, float, float, float } %333, 3, !dbg !25
  %338 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %237, float %238, float %239, float %240, i32 %174, i32 %175, i32 %176, i32 %177, i32 %183, i32 %184) #2, !dbg !25
  %339 = extractvalue { float, float, float, float } %338, 0, !dbg !25
  %340 = extractvalue { float, float, float, float } %338, 1, !dbg !25
  %341 = extractvalue { float, float, float, float } %338, 2, !dbg !25
  %342 = extractvalue { float, float, float, float } %338, 3, !dbg !25
  %343 = add i32 %161, 32, !dbg !19
  %344 = icmp slt i32 %343, %5, !dbg !19
  br i1 %344, label %140, label %._crit_edge, !dbg !19

._crit_edge:                                      ; preds = %140, %8
  %345 = phi float [ 0.000000e+00, %8 ], [ %324, %140 ]
  %346 = phi float [ 0.000000e+00, %8 ], [ %325, %140 ]
  %347 = phi float [ 0.000000e+00, %8 ], [ %326, %140 ]
  %348 = phi float [ 0.000000e+00, %8 ], [ %327, %140 ]
  %349 = phi float [ 0.000000e+00, %8 ], [ %329, %140 ]
  %350 = phi float [ 0.000000e+00, %8 ], [ %330, %140 ]
  %351 = phi float [ 0.000000e+00, %8 ], [ %331, %140 ]
  %352 = phi float [ 0.000000e+00, %8 ], [ %332, %140 ]
  %353 = phi float [ 0.000000e+00, %8 ], [ %334, %140 ]
  %354 = phi float [ 0.000000e+00, %8 ], [ %335, %140 ]
  %355 = phi float [ 0.000000e+00, %8 ], [ %336, %140 ]
  %356 = phi float [ 0.000000e+00, %8 ], [ %337, %140 ]
  %357 = phi float [ 0.000000e+00, %8 ], [ %339, %140 ]
  %358 = phi float [ 0.000000e+00, %8 ], [ %340, %140 ]
  %359 = phi float [ 0.000000e+00, %8 ], [ %341, %140 ]
  %360 = phi float [ 0.000000e+00, %8 ], [ %342, %140 ]
  %361 = and i32 %11, 7, !dbg !15
  %362 = shl nuw nsw i32 %361, 2, !dbg !15
  %363 = or disjoint i32 %362, %20, !dbg !16
  %364 = lshr i32 %11, 3, !dbg !15
  %365 = and i32 %364, 7, !dbg !15
  %366 = or disjoint i32 %365, %10, !dbg !14
  %367 = or disjoint i32 %366, 24, !dbg !14
  %368 = or disjoint i32 %366, 16, !dbg !14
  %369 = or disjoint i32 %366, 8, !dbg !14
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !19
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !19
  %370 = mul i32 %4, %366, !dbg !26
  %371 = mul i32 %4, %369, !dbg !26
  %372 = mul i32 %4, %368, !dbg !26
  %373 = mul i32 %4, %367, !dbg !26
  %374 = sext i32 %370 to i64, !dbg !27
  %375 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %374, !dbg !27
  %376 = sext i32 %371 to i64, !dbg !27
  %377 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %376, !dbg !27
  %378 = sext i32 %372 to i64, !dbg !27
  %379 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %378, !dbg !27
  %380 = sext i32 %373 to i64, !dbg !27
  %381 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %380, !dbg !27
  %382 = zext nneg i32 %363 to i64, !dbg !27
  %383 = getelementptr [4 x i8], ptr addrspace(1) %375, i64 %382, !dbg !27
  %384 = getelementptr [4 x i8], ptr addrspace(1) %377, i64 %382, !dbg !27
  %385 = getelementptr [4 x i8], ptr addrspace(1) %379, i64 %382, !dbg !27
  %386 = getelementptr [4 x i8], ptr addrspace(1) %381, i64 %382, !dbg !27
  %387 = shl nuw nsw i32 %34, 4, !dbg !28
  %388 = and i32 %11, 1, !dbg !28
  %389 = icmp eq i32 %388, 0, !dbg !28
  %390 = select i1 %389, i32 0, i32 1088, !dbg !28
  %391 = and i32 %15, 16, !dbg !28
  %392 = and i32 %11, 4, !dbg !28
  %393 = icmp eq i32 %392, 0, !dbg !28
  %394 = select i1 %393, i32 0, i32 544, !dbg !28
  %395 = or disjoint i32 %390, %391, !dbg !28
  %396 = or disjoint i32 %394, %387, !dbg !28
  %397 = xor i32 %396, %84, !dbg !28
  %398 = or disjoint i32 %395, %397, !dbg !28
  %399 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %398, !dbg !28
  %400 = insertelement <4 x float> poison, float %345, i64 0, !dbg !28
  %401 = insertelement <4 x float> %400, float %346, i64 1, !dbg !28
  %402 = insertelement <4 x float> %401, float %347, i64 2, !dbg !28
  %403 = insertelement <4 x float> %402, float %348, i64 3, !dbg !28
  store <4 x float> %403, ptr addrspace(3) %399, align 16, !dbg !28
  %404 = xor i32 %398, 64, !dbg !28
  %405 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %404, !dbg !28
  %406 = insertelement <4 x float> poison, float %349, i64 0, !dbg !28
  %407 = insertelement <4 x float> %406, float %350, i64 1, !dbg !28
  %408 = insertelement <4 x float> %407, float %351, i64 2, !dbg !28
  %409 = insertelement <4 x float> %408, float %352, i64 3, !dbg !28
  store <4 x float> %409, ptr addrspace(3) %405, align 16, !dbg !28
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !28
  %410 = shl nuw nsw i32 %361, 4, !dbg !28
  %411 = and i32 %15, 384, !dbg !28
  %412 = and i32 %11, 8, !dbg !28
  %413 = icmp eq i32 %412, 0, !dbg !28
  %414 = select i1 %413, i32 0, i32 544, !dbg !28
  %415 = or disjoint i32 %410, %411, !dbg !28
  %416 = xor i32 %415, %414, !dbg !28
  %417 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %416, !dbg !28
  %418 = load <4 x i32>, ptr addrspace(3) %417, align 16, !dbg !28
  %419 = xor i32 %416, 1088, !dbg !28
  %420 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %419, !dbg !28
  %421 = load <4 x i32>, ptr addrspace(3) %420, align 16, !dbg !28
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !28
  %422 = insertelement <4 x float> poison, float %353, i64 0, !dbg !28
  %423 = insertelement <4 x float> %422, float %354, i64 1, !dbg !28
  %424 = insertelement <4 x float> %423, float %355, i64 2, !dbg !28
  %425 = insertelement <4 x float> %424, float %356, i64 3, !dbg !28
  store <4 x float> %425, ptr addrspace(3) %399, align 16, !dbg !28
  %426 = insertelement <4 x float> poison, float %357, i64 0, !dbg !28
  %427 = insertelement <4 x float> %426, float %358, i64 1, !dbg !28
  %428 = insertelement <4 x float> %427, float %359, i64 2, !dbg !28
  %429 = insertelement <4 x float> %428, float %360, i64 3, !dbg !28
  store <4 x float> %429, ptr addrspace(3) %405, align 16, !dbg !28
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !28
  %430 = load <4 x i32>, ptr addrspace(3) %417, align 16, !dbg !28
  %431 = load <4 x i32>, ptr addrspace(3) %420, align 16, !dbg !28
  %.extract = extractelement <4 x i32> %418, i64 0, !dbg !28
  %.extract64 = extractelement <4 x i32> %418, i64 1, !dbg !28
  %.extract65 = extractelement <4 x i32> %421, i64 0, !dbg !28
  %.extract66 = extractelement <4 x i32> %421, i64 1, !dbg !28
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract, i32 %.extract64, i32 %.extract65, i32 %.extract66, ptr addrspace(1) %383) #2, !dbg !28
  %.extract67 = extractelement <4 x i32> %418, i64 2, !dbg !28
  %.extract68 = extractelement <4 x i32> %418, i64 3, !dbg !28
  %.extract69 = extractelement <4 x i32> %421, i64 2, !dbg !28
  %.extract70 = extractelement <4 x i32> %421, i64 3, !dbg !28
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract67, i32 %.extract68, i32 %.extract69, i32 %.extract70, ptr addrspace(1) %384) #2, !dbg !28
  %.extract71 = extractelement <4 x i32> %430, i64 0, !dbg !28
  %.extract72 = extractelement <4 x i32> %430, i64 1, !dbg !28
  %.extract73 = extractelement <4 x i32> %431, i64 0, !dbg !28
  %.extract74 = extractelement <4 x i32> %431, i64 1, !dbg !28
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract71, i32 %.extract72, i32 %.extract73, i32 %.extract74, ptr addrspace(1) %385) #2, !dbg !28
  %.extract75 = extractelement <4 x i32> %430, i64 2, !dbg !28
  %.extract76 = extractelement <4 x i32> %430, i64 3, !dbg !28
  %.extract77 = extractelement <4 x i32> %431, i64 2, !dbg !28
  %.extract78 = extractelement <4 x i32> %431, i64 3, !dbg !28
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract75, i32 %.extract76, i32 %.extract77, i32 %.extract78, ptr addrspace(1) %386) #2, !dbg !28
  ret void, !dbg !29
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

; Function Attrs: nounwind
declare void @llvm.nvvm.cp.async.commit.group() #2

; Function Attrs: nounwind
declare void @llvm.nvvm.cp.async.wait.group(i32 immarg) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: convergent nocallback nofree nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) readonly captures(none)) #4

; Function Attrs: convergent nocallback nofree nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) readonly captures(none)) #4

attributes #0 = { nounwind "nvvm.reqntid"="64" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nounwind }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { convergent nocallback nofree nounwind memory(argmem: read) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "matmul", linkageName: "matmul", scope: !1, file: !1, line: 38, type: !5, scopeLine: 38, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !11, !11, !11, !12, !12}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "half", size: 16, encoding: DW_ATE_float)
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!11 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!12 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !13, size: 64, dwarfAddressSpace: 1)
!13 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!14 = !DILocation(line: 39, column: 10, scope: !4)
!15 = !DILocation(line: 39, column: 34, scope: !4)
!16 = !DILocation(line: 40, column: 10, scope: !4)
!17 = !DILocation(line: 44, column: 28, scope: !4)
!18 = !DILocation(line: 44, column: 24, scope: !4)
!19 = !DILocation(line: 43, column: 5, scope: !4)
!20 = !DILocation(line: 44, column: 16, scope: !4)
!21 = !DILocation(line: 45, column: 29, scope: !4)
!22 = !DILocation(line: 45, column: 25, scope: !4)
!23 = !DILocation(line: 45, column: 17, scope: !4)
!24 = !DILocation(line: 44, column: 47, scope: !4)
!25 = !DILocation(line: 46, column: 17, scope: !4)
!26 = !DILocation(line: 47, column: 18, scope: !4)
!27 = !DILocation(line: 47, column: 14, scope: !4)
!28 = !DILocation(line: 47, column: 5, scope: !4)
!29 = !DILocation(line: 38, column: 1, scope: !4)
