; workgroup bytes: 4096
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @product(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, ptr addrspace(1) nofree readnone captures(none) %3, ptr addrspace(1) nofree readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !13
  %7 = shl i32 %6, 5, !dbg !13
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !14
  %9 = lshr i32 %8, 2, !dbg !14
  %10 = and i32 %9, 15, !dbg !14
  %11 = or disjoint i32 %10, 16, !dbg !14
  %12 = shl nuw nsw i32 %8, 3, !dbg !14
  %13 = and i32 %12, 24, !dbg !14
  %14 = or disjoint i32 %10, %7, !dbg !13
  %15 = or disjoint i32 %11, %7, !dbg !13
  %16 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y(), !dbg !15
  %17 = shl nuw nsw i32 %16, 5, !dbg !15
  %18 = or disjoint i32 %13, %17, !dbg !15
  %19 = shl i32 %14, 6, !dbg !16
  %20 = shl i32 %15, 6, !dbg !16
  %21 = sext i32 %19 to i64, !dbg !17
  %22 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %21, !dbg !17
  %23 = sext i32 %20 to i64, !dbg !17
  %24 = getelementptr [2 x i8], ptr addrspace(1) %0, i64 %23, !dbg !17
  %25 = zext nneg i32 %13 to i64, !dbg !17
  %26 = getelementptr [2 x i8], ptr addrspace(1) %22, i64 %25, !dbg !17
  %27 = getelementptr [2 x i8], ptr addrspace(1) %24, i64 %25, !dbg !17
  %28 = shl nuw nsw i32 %8, 4, !dbg !18
  %29 = and i32 %28, 1008, !dbg !18
  %30 = and i32 %8, 24, !dbg !18
  %31 = shl nuw nsw i32 %30, 1, !dbg !18
  %32 = xor i32 %29, %31, !dbg !18
  %33 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %32, !dbg !18
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %33, ptr addrspace(1) %26, i32 16) #2, !dbg !18
  %34 = or disjoint i32 %32, 1024, !dbg !18
  %35 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %34, !dbg !18
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %35, ptr addrspace(1) %27, i32 16) #2, !dbg !18
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !18
  %36 = shl nuw nsw i32 %10, 6, !dbg !19
  %37 = shl nuw nsw i32 %11, 6, !dbg !19
  %38 = zext nneg i32 %36 to i64, !dbg !20
  %39 = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %38, !dbg !20
  %40 = zext nneg i32 %37 to i64, !dbg !20
  %41 = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %40, !dbg !20
  %42 = zext nneg i32 %18 to i64, !dbg !20
  %43 = getelementptr [2 x i8], ptr addrspace(1) %39, i64 %42, !dbg !20
  %44 = getelementptr [2 x i8], ptr addrspace(1) %41, i64 %42, !dbg !20
  %45 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 2048), i32 %32, !dbg !21
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %45, ptr addrspace(1) %43, i32 16) #2, !dbg !21
  %46 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 2048), i32 %34, !dbg !21
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %46, ptr addrspace(1) %44, i32 16) #2, !dbg !21
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !21
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !18
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !18
  %47 = shl nuw nsw i32 %8, 6, !dbg !18
  %48 = and i32 %47, 960, !dbg !18
  %49 = and i32 %12, 48, !dbg !18
  %50 = and i32 %8, 16, !dbg !18
  %51 = or disjoint i32 %48, %49, !dbg !18
  %52 = xor i32 %51, %50, !dbg !18
  %53 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %52, !dbg !18
  %54 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %53), !dbg !18
  %55 = extractvalue { i32, i32, i32, i32 } %54, 0, !dbg !18
  %56 = extractvalue { i32, i32, i32, i32 } %54, 1, !dbg !18
  %57 = extractvalue { i32, i32, i32, i32 } %54, 2, !dbg !18
  %58 = extractvalue { i32, i32, i32, i32 } %54, 3, !dbg !18
  %59 = bitcast i32 %55 to <2 x half>, !dbg !18
  %60 = extractelement <2 x half> %59, i64 0, !dbg !18
  %61 = extractelement <2 x half> %59, i64 1, !dbg !18
  %62 = bitcast i32 %56 to <2 x half>, !dbg !18
  %63 = extractelement <2 x half> %62, i64 0, !dbg !18
  %64 = extractelement <2 x half> %62, i64 1, !dbg !18
  %65 = bitcast i32 %57 to <2 x half>, !dbg !18
  %66 = extractelement <2 x half> %65, i64 0, !dbg !18
  %67 = extractelement <2 x half> %65, i64 1, !dbg !18
  %68 = bitcast i32 %58 to <2 x half>, !dbg !18
  %69 = extractelement <2 x half> %68, i64 0, !dbg !18
  %70 = extractelement <2 x half> %68, i64 1, !dbg !18
  %71 = or disjoint i32 %52, 1024, !dbg !18
  %72 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %71, !dbg !18
  %73 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) nonnull %72), !dbg !18
  %74 = extractvalue { i32, i32, i32, i32 } %73, 0, !dbg !18
  %75 = extractvalue { i32, i32, i32, i32 } %73, 1, !dbg !18
  %76 = extractvalue { i32, i32, i32, i32 } %73, 2, !dbg !18
  %77 = extractvalue { i32, i32, i32, i32 } %73, 3, !dbg !18
  %78 = bitcast i32 %74 to <2 x half>, !dbg !18
  %79 = extractelement <2 x half> %78, i64 0, !dbg !18
  %80 = extractelement <2 x half> %78, i64 1, !dbg !18
  %81 = bitcast i32 %75 to <2 x half>, !dbg !18
  %82 = extractelement <2 x half> %81, i64 0, !dbg !18
  %83 = extractelement <2 x half> %81, i64 1, !dbg !18
  %84 = bitcast i32 %76 to <2 x half>, !dbg !18
  %85 = extractelement <2 x half> %84, i64 0, !dbg !18
  %86 = extractelement <2 x half> %84, i64 1, !dbg !18
  %87 = bitcast i32 %77 to <2 x half>, !dbg !18
  %88 = extractelement <2 x half> %87, i64 0, !dbg !18
  %89 = extractelement <2 x half> %87, i64 1, !dbg !18
  %90 = shl nuw nsw i32 %50, 1, !dbg !21
  %91 = and i32 %8, 32, !dbg !21
  %92 = lshr exact i32 %91, 1, !dbg !21
  %93 = or disjoint i32 %90, %92, !dbg !21
  %94 = xor i32 %51, %93, !dbg !21
  %95 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 2048), i32 %94, !dbg !21
  %96 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %95), !dbg !21
  %97 = extractvalue { i32, i32, i32, i32 } %96, 0, !dbg !21
  %98 = extractvalue { i32, i32, i32, i32 } %96, 1, !dbg !21
  %99 = extractvalue { i32, i32, i32, i32 } %96, 2, !dbg !21
  %100 = extractvalue { i32, i32, i32, i32 } %96, 3, !dbg !21
  %101 = bitcast i32 %97 to <2 x half>, !dbg !21
  %102 = extractelement <2 x half> %101, i64 0, !dbg !21
  %103 = extractelement <2 x half> %101, i64 1, !dbg !21
  %104 = bitcast i32 %98 to <2 x half>, !dbg !21
  %105 = extractelement <2 x half> %104, i64 0, !dbg !21
  %106 = extractelement <2 x half> %104, i64 1, !dbg !21
  %107 = bitcast i32 %99 to <2 x half>, !dbg !21
  %108 = extractelement <2 x half> %107, i64 0, !dbg !21
  %109 = extractelement <2 x half> %107, i64 1, !dbg !21
  %110 = bitcast i32 %100 to <2 x half>, !dbg !21
  %111 = extractelement <2 x half> %110, i64 0, !dbg !21
  %112 = extractelement <2 x half> %110, i64 1, !dbg !21
  %invariant.gep = getelementptr [2 x i8], ptr addrspace(1) %1, i64 %42, !dbg !22
  %113 = xor i32 %52, 32
  %114 = zext nneg i32 %10 to i64, !dbg !22
  %115 = zext nneg i32 %11 to i64, !dbg !22
  %116 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %113
  %117 = getelementptr inbounds nuw i8, ptr addrspace(3) %116, i32 1024
  %118 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 2048), i32 %94
  %119 = getelementptr inbounds nuw i8, ptr addrspace(3) %118, i32 1024
  %120 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %52
  %121 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %71
  %122 = getelementptr inbounds nuw i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 2048), i32 %94
  br label %123, !dbg !22

123:                                              ; preds = %5, %123
  %124 = phi i1 [ true, %5 ], [ false, %123 ]
  %indvars.iv = phi i64 [ 32, %5 ], [ 64, %123 ]
  %.pn33103 = phi half [ %112, %5 ], [ %268, %123 ]
  %.pn35102 = phi half [ %111, %5 ], [ %267, %123 ]
  %.pn37101 = phi half [ %109, %5 ], [ %265, %123 ]
  %.pn39100 = phi half [ %108, %5 ], [ %264, %123 ]
  %.pn4199 = phi half [ %106, %5 ], [ %262, %123 ]
  %.pn4398 = phi half [ %105, %5 ], [ %261, %123 ]
  %.pn4597 = phi half [ %103, %5 ], [ %259, %123 ]
  %.pn4796 = phi half [ %102, %5 ], [ %258, %123 ]
  %.pn195 = phi half [ %89, %5 ], [ %251, %123 ]
  %.pn394 = phi half [ %88, %5 ], [ %250, %123 ]
  %.pn593 = phi half [ %86, %5 ], [ %248, %123 ]
  %.pn792 = phi half [ %85, %5 ], [ %247, %123 ]
  %.pn991 = phi half [ %83, %5 ], [ %245, %123 ]
  %.pn1190 = phi half [ %82, %5 ], [ %244, %123 ]
  %.pn1389 = phi half [ %80, %5 ], [ %242, %123 ]
  %.pn1588 = phi half [ %79, %5 ], [ %241, %123 ]
  %.pn1787 = phi half [ %70, %5 ], [ %234, %123 ]
  %.pn1986 = phi half [ %69, %5 ], [ %233, %123 ]
  %.pn2185 = phi half [ %67, %5 ], [ %231, %123 ]
  %.pn2384 = phi half [ %66, %5 ], [ %230, %123 ]
  %.pn2583 = phi half [ %64, %5 ], [ %228, %123 ]
  %.pn2782 = phi half [ %63, %5 ], [ %227, %123 ]
  %.pn2981 = phi half [ %61, %5 ], [ %225, %123 ]
  %.pn3180 = phi half [ %60, %5 ], [ %224, %123 ]
  %125 = phi float [ 0.000000e+00, %5 ], [ %270, %123 ]
  %126 = phi float [ 0.000000e+00, %5 ], [ %271, %123 ]
  %127 = phi float [ 0.000000e+00, %5 ], [ %272, %123 ]
  %128 = phi float [ 0.000000e+00, %5 ], [ %273, %123 ]
  %129 = phi float [ 0.000000e+00, %5 ], [ %275, %123 ]
  %130 = phi float [ 0.000000e+00, %5 ], [ %276, %123 ]
  %131 = phi float [ 0.000000e+00, %5 ], [ %277, %123 ]
  %132 = phi float [ 0.000000e+00, %5 ], [ %278, %123 ]
  %133 = phi float [ 0.000000e+00, %5 ], [ %280, %123 ]
  %134 = phi float [ 0.000000e+00, %5 ], [ %281, %123 ]
  %135 = phi float [ 0.000000e+00, %5 ], [ %282, %123 ]
  %136 = phi float [ 0.000000e+00, %5 ], [ %283, %123 ]
  %137 = phi float [ 0.000000e+00, %5 ], [ %285, %123 ]
  %138 = phi float [ 0.000000e+00, %5 ], [ %286, %123 ]
  %139 = phi float [ 0.000000e+00, %5 ], [ %287, %123 ]
  %140 = phi float [ 0.000000e+00, %5 ], [ %288, %123 ]
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !18
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !18
  %141 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %116), !dbg !18
  %142 = extractvalue { i32, i32, i32, i32 } %141, 0, !dbg !18
  %143 = extractvalue { i32, i32, i32, i32 } %141, 1, !dbg !18
  %144 = extractvalue { i32, i32, i32, i32 } %141, 2, !dbg !18
  %145 = extractvalue { i32, i32, i32, i32 } %141, 3, !dbg !18
  %146 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) nonnull %117), !dbg !18
  %147 = extractvalue { i32, i32, i32, i32 } %146, 0, !dbg !18
  %148 = extractvalue { i32, i32, i32, i32 } %146, 1, !dbg !18
  %149 = extractvalue { i32, i32, i32, i32 } %146, 2, !dbg !18
  %150 = extractvalue { i32, i32, i32, i32 } %146, 3, !dbg !18
  %151 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) nonnull %119), !dbg !21
  %152 = extractvalue { i32, i32, i32, i32 } %151, 0, !dbg !21
  %153 = extractvalue { i32, i32, i32, i32 } %151, 1, !dbg !21
  %154 = extractvalue { i32, i32, i32, i32 } %151, 2, !dbg !21
  %155 = extractvalue { i32, i32, i32, i32 } %151, 3, !dbg !21
  %156 = insertelement <2 x half> poison, half %.pn3180, i64 0, !dbg !23
  %157 = insertelement <2 x half> %156, half %.pn2981, i64 1, !dbg !23
  %158 = bitcast <2 x half> %157 to i32, !dbg !23
  %159 = insertelement <2 x half> poison, half %.pn2782, i64 0, !dbg !23
  %160 = insertelement <2 x half> %159, half %.pn2583, i64 1, !dbg !23
  %161 = bitcast <2 x half> %160 to i32, !dbg !23
  %162 = insertelement <2 x half> poison, half %.pn2384, i64 0, !dbg !23
  %163 = insertelement <2 x half> %162, half %.pn2185, i64 1, !dbg !23
  %164 = bitcast <2 x half> %163 to i32, !dbg !23
  %165 = insertelement <2 x half> poison, half %.pn1986, i64 0, !dbg !23
  %166 = insertelement <2 x half> %165, half %.pn1787, i64 1, !dbg !23
  %167 = bitcast <2 x half> %166 to i32, !dbg !23
  %168 = insertelement <2 x half> poison, half %.pn1588, i64 0, !dbg !23
  %169 = insertelement <2 x half> %168, half %.pn1389, i64 1, !dbg !23
  %170 = bitcast <2 x half> %169 to i32, !dbg !23
  %171 = insertelement <2 x half> poison, half %.pn1190, i64 0, !dbg !23
  %172 = insertelement <2 x half> %171, half %.pn991, i64 1, !dbg !23
  %173 = bitcast <2 x half> %172 to i32, !dbg !23
  %174 = insertelement <2 x half> poison, half %.pn792, i64 0, !dbg !23
  %175 = insertelement <2 x half> %174, half %.pn593, i64 1, !dbg !23
  %176 = bitcast <2 x half> %175 to i32, !dbg !23
  %177 = insertelement <2 x half> poison, half %.pn394, i64 0, !dbg !23
  %178 = insertelement <2 x half> %177, half %.pn195, i64 1, !dbg !23
  %179 = bitcast <2 x half> %178 to i32, !dbg !23
  %180 = insertelement <2 x half> poison, half %.pn4796, i64 0, !dbg !23
  %181 = insertelement <2 x half> %180, half %.pn4597, i64 1, !dbg !23
  %182 = bitcast <2 x half> %181 to i32, !dbg !23
  %183 = insertelement <2 x half> poison, half %.pn4398, i64 0, !dbg !23
  %184 = insertelement <2 x half> %183, half %.pn4199, i64 1, !dbg !23
  %185 = bitcast <2 x half> %184 to i32, !dbg !23
  %186 = insertelement <2 x half> poison, half %.pn39100, i64 0, !dbg !23
  %187 = insertelement <2 x half> %186, half %.pn37101, i64 1, !dbg !23
  %188 = bitcast <2 x half> %187 to i32, !dbg !23
  %189 = insertelement <2 x half> poison, half %.pn35102, i64 0, !dbg !23
  %190 = insertelement <2 x half> %189, half %.pn33103, i64 1, !dbg !23
  %191 = bitcast <2 x half> %190 to i32, !dbg !23
  %192 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %125, float %126, float %127, float %128, i32 %158, i32 %161, i32 %164, i32 %167, i32 %182, i32 %185) #2, !dbg !23
  %193 = extractvalue { float, float, float, float } %192, 0, !dbg !23
  %194 = extractvalue { float, float, float, float } %192, 1, !dbg !23
  %195 = extractvalue { float, float, float, float } %192, 2, !dbg !23
  %196 = extractvalue { float, float, float, float } %192, 3, !dbg !23
  %197 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %129, float %130, float %131, float %132, i32 %158, i32 %161, i32 %164, i32 %167, i32 %188, i32 %191) #2, !dbg !23
  %198 = extractvalue { float, float, float, float } %197, 0, !dbg !23
  %199 = extractvalue { float, float, float, float } %197, 1, !dbg !23
  %200 = extractvalue { float, float, float, float } %197, 2, !dbg !23
  %201 = extractvalue { float, float, float, float } %197, 3, !dbg !23
  %202 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %133, float %134, float %135, float %136, i32 %170, i32 %173, i32 %176, i32 %179, i32 %182, i32 %185) #2, !dbg !23
  %203 = extractvalue { float, float, float, float } %202, 0, !dbg !23
  %204 = extractvalue { float, float, float, float } %202, 1, !dbg !23
  %205 = extractvalue { float, float, float, float } %202, 2, !dbg !23
  %206 = extractvalue { float, float, float, float } %202, 3, !dbg !23
  %207 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %137, float %138, float %139, float %140, i32 %170, i32 %173, i32 %176, i32 %179, i32 %188, i32 %191) #2, !dbg !23
  %208 = extractvalue { float, float, float, float } %207, 0, !dbg !23
  %209 = extractvalue { float, float, float, float } %207, 1, !dbg !23
  %210 = extractvalue { float, float, float, float } %207, 2, !dbg !23
  %211 = extractvalue { float, float, float, float } %207, 3, !dbg !23
  %212 = or disjoint i64 %indvars.iv, %25, !dbg !24
  %213 = or disjoint i64 %indvars.iv, %114, !dbg !24
  %214 = or disjoint i64 %indvars.iv, %115, !dbg !24
  %215 = getelementptr [2 x i8], ptr addrspace(1) %22, i64 %212, !dbg !17
  %216 = getelementptr [2 x i8], ptr addrspace(1) %24, i64 %212, !dbg !17
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !18
  %217 = select i1 %124, i32 16, i32 0, !dbg !18
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %33, ptr addrspace(1) %215, i32 %217) #2, !dbg !18
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %35, ptr addrspace(1) %216, i32 %217) #2, !dbg !18
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !18
  %gep.idx = shl nuw nsw i64 %213, 7, !dbg !20
  %gep = getelementptr i8, ptr addrspace(1) %invariant.gep, i64 %gep.idx, !dbg !20
  %gep79.idx = shl nuw nsw i64 %214, 7, !dbg !20
  %gep79 = getelementptr i8, ptr addrspace(1) %invariant.gep, i64 %gep79.idx, !dbg !20
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) %45, ptr addrspace(1) %gep, i32 %217) #2, !dbg !21
  tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %46, ptr addrspace(1) %gep79, i32 %217) #2, !dbg !21
  tail call void @llvm.nvvm.cp.async.commit.group(), !dbg !21
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !18
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !18
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !18
  %218 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %120), !dbg !18
  %219 = extractvalue { i32, i32, i32, i32 } %218, 0, !dbg !18
  %220 = extractvalue { i32, i32, i32, i32 } %218, 1, !dbg !18
  %221 = extractvalue { i32, i32, i32, i32 } %218, 2, !dbg !18
  %222 = extractvalue { i32, i32, i32, i32 } %218, 3, !dbg !18
  %223 = bitcast i32 %219 to <2 x half>, !dbg !18
  %224 = extractelement <2 x half> %223, i64 0, !dbg !18
  %225 = extractelement <2 x half> %223, i64 1, !dbg !18
  %226 = bitcast i32 %220 to <2 x half>, !dbg !18
  %227 = extractelement <2 x half> %226, i64 0, !dbg !18
  %228 = extractelement <2 x half> %226, i64 1, !dbg !18
  %229 = bitcast i32 %221 to <2 x half>, !dbg !18
  %230 = extractelement <2 x half> %229, i64 0, !dbg !18
  %231 = extractelement <2 x half> %229, i64 1, !dbg !18
  %232 = bitcast i32 %222 to <2 x half>, !dbg !18
  %233 = extractelement <2 x half> %232, i64 0, !dbg !18
  %234 = extractelement <2 x half> %232, i64 1, !dbg !18
  %235 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) nonnull %121), !dbg !18
  %236 = extractvalue { i32, i32, i32, i32 } %235, 0, !dbg !18
  %237 = extractvalue { i32, i32, i32, i32 } %235, 1, !dbg !18
  %238 = extractvalue { i32, i32, i32, i32 } %235, 2, !dbg !18
  %239 = extractvalue { i32, i32, i32, i32 } %235, 3, !dbg !18
  %240 = bitcast i32 %236 to <2 x half>, !dbg !18
  %241 = extractelement <2 x half> %240, i64 0, !dbg !18
  %242 = extractelement <2 x half> %240, i64 1, !dbg !18
  %243 = bitcast i32 %237 to <2 x half>, !dbg !18
  %244 = extractelement <2 x half> %243, i64 0, !dbg !18
  %245 = extractelement <2 x half> %243, i64 1, !dbg !18
  %246 = bitcast i32 %238 to <2 x half>, !dbg !18
  %247 = extractelement <2 x half> %246, i64 0, !dbg !18
  %248 = extractelement <2 x half> %246, i64 1, !dbg !18
  %249 = bitcast i32 %239 to <2 x half>, !dbg !18
  %250 = extractelement <2 x half> %249, i64 0, !dbg !18
  %251 = extractelement <2 x half> %249, i64 1, !dbg !18
  %252 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %122), !dbg !21
  %253 = extractvalue { i32, i32, i32, i32 } %252, 0, !dbg !21
  %254 = extractvalue { i32, i32, i32, i32 } %252, 1, !dbg !21
  %255 = extractvalue { i32, i32, i32, i32 } %252, 2, !dbg !21
  %256 = extractvalue { i32, i32, i32, i32 } %252, 3, !dbg !21
  %257 = bitcast i32 %253 to <2 x half>, !dbg !21
  %258 = extractelement <2 x half> %257, i64 0, !dbg !21
  %259 = extractelement <2 x half> %257, i64 1, !dbg !21
  %260 = bitcast i32 %254 to <2 x half>, !dbg !21
  %261 = extractelement <2 x half> %260, i64 0, !dbg !21
  %262 = extractelement <2 x half> %260, i64 1, !dbg !21
  %263 = bitcast i32 %255 to <2 x half>, !dbg !21
  %264 = extractelement <2 x half> %263, i64 0, !dbg !21
  %265 = extractelement <2 x half> %263, i64 1, !dbg !21
  %266 = bitcast i32 %256 to <2 x half>, !dbg !21
  %267 = extractelement <2 x half> %266, i64 0, !dbg !21
  %268 = extractelement <2 x half> %266, i64 1, !dbg !21
  %269 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %193, float %194, float %195, float %196, i32 %142, i32 %143, i32 %144, i32 %145, i32 %152, i32 %153) #2, !dbg !23
  %270 = extractvalue { float, float, float, float } %269, 0, !dbg !23
  %271 = extractvalue { float, float, float, float } %269, 1, !dbg !23
  %272 = extractvalue { float, float, float, float } %269, 2, !dbg !23
  %273 = extractvalue { float, float, float, float } %269, 3, !dbg !23
  %274 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %198, float %199, float %200, float %201, i32 %142, i32 %143, i32 %144, i32 %145, i32 %154, i32 %155) #2, !dbg !23
  %275 = extractvalue { float, float, float, float } %274, 0, !dbg !23
  %276 = extractvalue { float, float, float, float } %274, 1, !dbg !23
  %277 = extractvalue { float, float, float, float } %274, 2, !dbg !23
  %278 = extractvalue { float, float, float, float } %274, 3, !dbg !23
  %279 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %203, float %204, float %205, float %206, i32 %147, i32 %148, i32 %149, i32 %150, i32 %152, i32 %153) #2, !dbg !23
  %280 = extractvalue { float, float, float, float } %279, 0, !dbg !23
  %281 = extractvalue { float, float, float, float } %279, 1, !dbg !23
  %282 = extractvalue { float, float, float, float } %279, 2, !dbg !23
  %283 = extractvalue { float, float, float, float } %279, 3, !dbg !23
  %284 = tail call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %208, float %209, float %210, float %211, i32 %147, i32 %148, i32 %149, i32 %150, i32 %154, i32 %155) #2, !dbg !23
  %285 = extractvalue { float, float, float, float } %284, 0, !dbg !23
  %286 = extractvalue { float, float, float, float } %284, 1, !dbg !23
  %287 = extractvalue { float, float, float, float } %284, 2, !dbg !23
  %288 = extractvalue { float, float, float, float } %284, 3, !dbg !23
  br i1 %124, label %123, label %289, !dbg !22

289:                                              ; preds = %123
  %290 = and i32 %8, 7, !dbg !14
  %291 = shl nuw nsw i32 %290, 2, !dbg !14
  %292 = or disjoint i32 %291, %17, !dbg !15
  %293 = lshr i32 %8, 3, !dbg !14
  %294 = and i32 %293, 7, !dbg !14
  %295 = or disjoint i32 %294, %7, !dbg !13
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0), !dbg !22
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !22
  %296 = shl i32 %295, 6, !dbg !25
  %297 = sext i32 %296 to i64, !dbg !26
  %298 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %297, !dbg !26
  %299 = getelementptr i8, ptr addrspace(1) %298, i64 2048, !dbg !26
  %300 = getelementptr i8, ptr addrspace(1) %298, i64 4096, !dbg !26
  %301 = getelementptr i8, ptr addrspace(1) %298, i64 6144, !dbg !26
  %302 = zext nneg i32 %292 to i64, !dbg !26
  %303 = getelementptr [4 x i8], ptr addrspace(1) %298, i64 %302, !dbg !26
  %304 = getelementptr [4 x i8], ptr addrspace(1) %299, i64 %302, !dbg !26
  %305 = getelementptr [4 x i8], ptr addrspace(1) %300, i64 %302, !dbg !26
  %306 = getelementptr [4 x i8], ptr addrspace(1) %301, i64 %302, !dbg !26
  %307 = shl nuw nsw i32 %30, 4, !dbg !27
  %308 = and i32 %8, 1, !dbg !27
  %309 = icmp eq i32 %308, 0, !dbg !27
  %310 = select i1 %309, i32 0, i32 1088, !dbg !27
  %311 = and i32 %12, 16, !dbg !27
  %312 = and i32 %8, 4, !dbg !27
  %313 = icmp eq i32 %312, 0, !dbg !27
  %314 = select i1 %313, i32 0, i32 544, !dbg !27
  %315 = or disjoint i32 %310, %311, !dbg !27
  %316 = or disjoint i32 %314, %307, !dbg !27
  %317 = xor i32 %316, %91, !dbg !27
  %318 = or disjoint i32 %315, %317, !dbg !27
  %319 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %318, !dbg !27
  %320 = insertelement <4 x float> poison, float %270, i64 0, !dbg !27
  %321 = insertelement <4 x float> %320, float %271, i64 1, !dbg !27
  %322 = insertelement <4 x float> %321, float %272, i64 2, !dbg !27
  %323 = insertelement <4 x float> %322, float %273, i64 3, !dbg !27
  store <4 x float> %323, ptr addrspace(3) %319, align 16, !dbg !27
  %324 = xor i32 %318, 64, !dbg !27
  %325 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %324, !dbg !27
  %326 = insertelement <4 x float> poison, float %275, i64 0, !dbg !27
  %327 = insertelement <4 x float> %326, float %276, i64 1, !dbg !27
  %328 = insertelement <4 x float> %327, float %277, i64 2, !dbg !27
  %329 = insertelement <4 x float> %328, float %278, i64 3, !dbg !27
  store <4 x float> %329, ptr addrspace(3) %325, align 16, !dbg !27
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !27
  %330 = shl nuw nsw i32 %290, 4, !dbg !27
  %331 = and i32 %12, 384, !dbg !27
  %332 = and i32 %8, 8, !dbg !27
  %333 = icmp eq i32 %332, 0, !dbg !27
  %334 = select i1 %333, i32 0, i32 544, !dbg !27
  %335 = or disjoint i32 %330, %331, !dbg !27
  %336 = xor i32 %335, %334, !dbg !27
  %337 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %336, !dbg !27
  %338 = load <4 x i32>, ptr addrspace(3) %337, align 16, !dbg !27
  %339 = xor i32 %336, 1088, !dbg !27
  %340 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %339, !dbg !27
  %341 = load <4 x i32>, ptr addrspace(3) %340, align 16, !dbg !27
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !27
  %342 = insertelement <4 x float> poison, float %280, i64 0, !dbg !27
  %343 = insertelement <4 x float> %342, float %281, i64 1, !dbg !27
  %344 = insertelement <4 x float> %343, float %282, i64 2, !dbg !27
  %345 = insertelement <4 x float> %344, float %283, i64 3, !dbg !27
  store <4 x float> %345, ptr addrspace(3) %319, align 16, !dbg !27
  %346 = insertelement <4 x float> poison, float %285, i64 0, !dbg !27
  %347 = insertelement <4 x float> %346, float %286, i64 1, !dbg !27
  %348 = insertelement <4 x float> %347, float %287, i64 2, !dbg !27
  %349 = insertelement <4 x float> %348, float %288, i64 3, !dbg !27
  store <4 x float> %349, ptr addrspace(3) %325, align 16, !dbg !27
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !27
  %350 = load <4 x i32>, ptr addrspace(3) %337, align 16, !dbg !27
  %351 = load <4 x i32>, ptr addrspace(3) %340, align 16, !dbg !27
  %.extract = extractelement <4 x i32> %338, i64 0, !dbg !27
  %.extract63 = extractelement <4 x i32> %338, i64 1, !dbg !27
  %.extract64 = extractelement <4 x i32> %341, i64 0, !dbg !27
  %.extract65 = extractelement <4 x i32> %341, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract, i32 %.extract63, i32 %.extract64, i32 %.extract65, ptr addrspace(1) %303) #2, !dbg !27
  %.extract66 = extractelement <4 x i32> %338, i64 2, !dbg !27
  %.extract67 = extractelement <4 x i32> %338, i64 3, !dbg !27
  %.extract68 = extractelement <4 x i32> %341, i64 2, !dbg !27
  %.extract69 = extractelement <4 x i32> %341, i64 3, !dbg !27
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract66, i32 %.extract67, i32 %.extract68, i32 %.extract69, ptr addrspace(1) %304) #2, !dbg !27
  %.extract70 = extractelement <4 x i32> %350, i64 0, !dbg !27
  %.extract71 = extractelement <4 x i32> %350, i64 1, !dbg !27
  %.extract72 = extractelement <4 x i32> %351, i64 0, !dbg !27
  %.extract73 = extractelement <4 x i32> %351, i64 1, !dbg !27
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract70, i32 %.extract71, i32 %.extract72, i32 %.extract73, ptr addrspace(1) %305) #2, !dbg !27
  %.extract74 = extractelement <4 x i32> %350, i64 2, !dbg !27
  %.extract75 = extractelement <4 x i32> %350, i64 3, !dbg !27
  %.extract76 = extractelement <4 x i32> %351, i64 2, !dbg !27
  %.extract77 = extractelement <4 x i32> %351, i64 3, !dbg !27
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %.extract74, i32 %.extract75, i32 %.extract76, i32 %.extract77, ptr addrspace(1) %306) #2, !dbg !27
  ret void, !dbg !28
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
!4 = distinct !DISubprogram(name: "product", linkageName: "product", scope: !1, file: !1, line: 98, type: !5, scopeLine: 98, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !11, !11}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "half", size: 16, encoding: DW_ATE_float)
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!11 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !12, size: 64, dwarfAddressSpace: 1)
!12 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!13 = !DILocation(line: 99, column: 10, scope: !4)
!14 = !DILocation(line: 99, column: 34, scope: !4)
!15 = !DILocation(line: 100, column: 10, scope: !4)
!16 = !DILocation(line: 104, column: 28, scope: !4)
!17 = !DILocation(line: 104, column: 24, scope: !4)
!18 = !DILocation(line: 104, column: 16, scope: !4)
!19 = !DILocation(line: 105, column: 29, scope: !4)
!20 = !DILocation(line: 105, column: 25, scope: !4)
!21 = !DILocation(line: 105, column: 17, scope: !4)
!22 = !DILocation(line: 103, column: 5, scope: !4)
!23 = !DILocation(line: 106, column: 17, scope: !4)
!24 = !DILocation(line: 104, column: 47, scope: !4)
!25 = !DILocation(line: 107, column: 18, scope: !4)
!26 = !DILocation(line: 107, column: 14, scope: !4)
!27 = !DILocation(line: 107, column: 5, scope: !4)
!28 = !DILocation(line: 98, column: 1, scope: !4)
