; workgroup bytes: 16
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16
@.str = private unnamed_addr constant [11 x i8] c"__CUDA_FTZ\00", align 1
@.str.2 = private unnamed_addr constant [17 x i8] c"__CUDA_PREC_SQRT\00", align 1

; Function Attrs: nounwind
define ptx_kernel void @layer_norm(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) nofree readnone captures(none) %2, ptr addrspace(1) nofree readnone captures(none) %3) local_unnamed_addr #0 !dbg !6 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !13
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !14
  %7 = shl nuw nsw i32 %6, 1, !dbg !14
  %8 = and i32 %7, 254, !dbg !14
  %9 = mul i32 %5, 1000, !dbg !15
  %10 = sext i32 %9 to i64, !dbg !16
  %11 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %10, !dbg !16
  %12 = zext nneg i32 %8 to i64, !dbg !17
  %13 = getelementptr [4 x i8], ptr addrspace(1) %11, i64 %12, !dbg !16
  %14 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %13, i1 true) #6, !dbg !18
  %15 = extractvalue { i32, i32 } %14, 0, !dbg !18
  %16 = extractvalue { i32, i32 } %14, 1, !dbg !18
  %17 = bitcast i32 %15 to float, !dbg !18
  %18 = bitcast i32 %16 to float, !dbg !18
  %19 = fadd float %17, 0.000000e+00, !dbg !19
  %20 = fadd float %18, 0.000000e+00, !dbg !19
  %21 = or disjoint i64 %12, 256, !dbg !20
  %22 = getelementptr [4 x i8], ptr addrspace(1) %11, i64 %21, !dbg !16
  %23 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %22, i1 true) #6, !dbg !18
  %24 = extractvalue { i32, i32 } %23, 0, !dbg !18
  %25 = extractvalue { i32, i32 } %23, 1, !dbg !18
  %26 = bitcast i32 %24 to float, !dbg !18
  %27 = bitcast i32 %25 to float, !dbg !18
  %28 = fadd float %19, %26, !dbg !19
  %29 = fadd float %20, %27, !dbg !19
  %30 = or disjoint i64 %12, 512, !dbg !20
  %31 = getelementptr [4 x i8], ptr addrspace(1) %11, i64 %30, !dbg !16
  %32 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %31, i1 true) #6, !dbg !18
  %33 = extractvalue { i32, i32 } %32, 0, !dbg !18
  %34 = extractvalue { i32, i32 } %32, 1, !dbg !18
  %35 = bitcast i32 %33 to float, !dbg !18
  %36 = bitcast i32 %34 to float, !dbg !18
  %37 = fadd float %28, %35, !dbg !19
  %38 = fadd float %29, %36, !dbg !19
  %39 = or disjoint i64 %12, 768, !dbg !20
  %40 = icmp samesign ult i64 %39, 1000, !dbg !21
  %41 = getelementptr [4 x i8], ptr addrspace(1) %11, i64 %39, !dbg !16
  %42 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %41, i1 %40) #6, !dbg !18
  %43 = extractvalue { i32, i32 } %42, 0, !dbg !18
  %44 = extractvalue { i32, i32 } %42, 1, !dbg !18
  %45 = bitcast i32 %43 to float, !dbg !18
  %46 = bitcast i32 %44 to float, !dbg !18
  %47 = fadd float %37, %45, !dbg !19
  %48 = fadd float %38, %46, !dbg !19
  %49 = fadd float %47, %48, !dbg !22
  %50 = bitcast float %49 to i32, !dbg !25
  %51 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %50, i32 16, i32 31), !dbg !25
  %52 = bitcast i32 %51 to float, !dbg !25
  %53 = fadd float %49, %52, !dbg !22
  %54 = bitcast float %53 to i32, !dbg !25
  %55 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %54, i32 8, i32 31), !dbg !25
  %56 = bitcast i32 %55 to float, !dbg !25
  %57 = fadd float %53, %56, !dbg !22
  %58 = bitcast float %57 to i32, !dbg !25
  %59 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %58, i32 4, i32 31), !dbg !25
  %60 = bitcast i32 %59 to float, !dbg !25
  %61 = fadd float %57, %60, !dbg !22
  %62 = bitcast float %61 to i32, !dbg !25
  %63 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %62, i32 2, i32 31), !dbg !25
  %64 = bitcast i32 %63 to float, !dbg !25
  %65 = fadd float %61, %64, !dbg !22
  %66 = bitcast float %65 to i32, !dbg !25
  %67 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %66, i32 1, i32 31), !dbg !25
  %68 = bitcast i32 %67 to float, !dbg !25
  %69 = fadd float %65, %68, !dbg !22
  %70 = lshr i32 %6, 3, !dbg !25
  %71 = and i32 %70, 12, !dbg !25
  %72 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %71, !dbg !25
  store float %69, ptr addrspace(3) %72, align 4, !dbg !25
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !25
  %73 = shl nuw nsw i32 %6, 2, !dbg !25
  %74 = and i32 %73, 12, !dbg !25
  %75 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %74, !dbg !25
  %76 = load i32, ptr addrspace(3) %75, align 4, !dbg !25
  %77 = bitcast i32 %76 to float, !dbg !25
  %78 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %76, i32 2, i32 31), !dbg !25
  %79 = bitcast i32 %78 to float, !dbg !25
  %80 = fadd float %77, %79, !dbg !22
  %81 = bitcast float %80 to i32, !dbg !25
  %82 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %81, i32 1, i32 31), !dbg !25
  %83 = bitcast i32 %82 to float, !dbg !25
  %84 = fadd float %80, %83, !dbg !22
  %85 = tail call float @llvm.nvvm.div.approx.f(float 1.000000e+00, float 1.000000e+03), !dbg !28
  %86 = fmul float %85, %84, !dbg !28
  %87 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %13, i1 true) #6, !dbg !29
  %88 = extractvalue { i32, i32 } %87, 0, !dbg !29
  %89 = extractvalue { i32, i32 } %87, 1, !dbg !29
  %90 = bitcast i32 %88 to float, !dbg !29
  %91 = bitcast i32 %89 to float, !dbg !29
  %92 = fsub float %90, %86, !dbg !30
  %93 = fsub float %91, %86, !dbg !30
  %94 = fmul float %92, %92, !dbg !31
  %95 = fmul float %93, %93, !dbg !31
  %96 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %22, i1 true) #6, !dbg !29
  %97 = extractvalue { i32, i32 } %96, 0, !dbg !29
  %98 = extractvalue { i32, i32 } %96, 1, !dbg !29
  %99 = bitcast i32 %97 to float, !dbg !29
  %100 = bitcast i32 %98 to float, !dbg !29
  %101 = fsub float %99, %86, !dbg !30
  %102 = fsub float %100, %86, !dbg !30
  %103 = fmul float %101, %101, !dbg !31
  %104 = fmul float %102, %102, !dbg !31
  %105 = fadd float %94, %103, !dbg !32
  %106 = fadd float %95, %104, !dbg !32
  %107 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %31, i1 true) #6, !dbg !29
  %108 = extractvalue { i32, i32 } %107, 0, !dbg !29
  %109 = extractvalue { i32, i32 } %107, 1, !dbg !29
  %110 = bitcast i32 %108 to float, !dbg !29
  %111 = bitcast i32 %109 to float, !dbg !29
  %112 = fsub float %110, %86, !dbg !30
  %113 = fsub float %111, %86, !dbg !30
  %114 = fmul float %112, %112, !dbg !31
  %115 = fmul float %113, %113, !dbg !31
  %116 = fadd float %105, %114, !dbg !32
  %117 = fadd float %106, %115, !dbg !32
  %118 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %41, i1 %40) #6, !dbg !29
  %119 = extractvalue { i32, i32 } %118, 0, !dbg !29
  %120 = extractvalue { i32, i32 } %118, 1, !dbg !29
  %121 = bitcast i32 %119 to float, !dbg !29
  %122 = bitcast i32 %120 to float, !dbg !29
  %123 = fsub float %121, %86, !dbg !30
  %124 = fsub float %122, %86, !dbg !30
  %125 = select i1 %40, float %123, float 0.000000e+00, !dbg !33
  %126 = select i1 %40, float %124, float 0.000000e+00, !dbg !33
  %127 = fmul float %125, %125, !dbg !31
  %128 = fmul float %126, %126, !dbg !31
  %129 = fadd float %116, %127, !dbg !32
  %130 = fadd float %117, %128, !dbg !32
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !34
  %131 = fadd float %129, %130, !dbg !36
  %132 = bitcast float %131 to i32, !dbg !34
  %133 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %132, i32 16, i32 31), !dbg !34
  %134 = bitcast i32 %133 to float, !dbg !34
  %135 = fadd float %131, %134, !dbg !36
  %136 = bitcast float %135 to i32, !dbg !34
  %137 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %136, i32 8, i32 31), !dbg !34
  %138 = bitcast i32 %137 to float, !dbg !34
  %139 = fadd float %135, %138, !dbg !36
  %140 = bitcast float %139 to i32, !dbg !34
  %141 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %140, i32 4, i32 31), !dbg !34
  %142 = bitcast i32 %141 to float, !dbg !34
  %143 = fadd float %139, %142, !dbg !36
  %144 = bitcast float %143 to i32, !dbg !34
  %145 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %144, i32 2, i32 31), !dbg !34
  %146 = bitcast i32 %145 to float, !dbg !34
  %147 = fadd float %143, %146, !dbg !36
  %148 = bitcast float %147 to i32, !dbg !34
  %149 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %148, i32 1, i32 31), !dbg !34
  %150 = bitcast i32 %149 to float, !dbg !34
  %151 = fadd float %147, %150, !dbg !36
  store float %151, ptr addrspace(3) %72, align 4, !dbg !34
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !34
  %152 = load i32, ptr addrspace(3) %75, align 4, !dbg !34
  %153 = bitcast i32 %152 to float, !dbg !34
  %154 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %152, i32 2, i32 31), !dbg !34
  %155 = bitcast i32 %154 to float, !dbg !34
  %156 = fadd float %153, %155, !dbg !36
  %157 = bitcast float %156 to i32, !dbg !34
  %158 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %157, i32 1, i32 31), !dbg !34
  %159 = bitcast i32 %158 to float, !dbg !34
  %160 = fadd float %156, %159, !dbg !36
  %161 = fmul float %85, %160, !dbg !37
  %162 = fadd float %161, 1.000000e-03, !dbg !37
  %163 = tail call i32 @__nvvm_reflect(ptr nonnull @.str) #6, !dbg !38
  %.not.i = icmp eq i32 %163, 0, !dbg !38
  %164 = tail call i32 @__nvvm_reflect(ptr nonnull @.str.2) #6, !dbg !38
  %.not1.i = icmp eq i32 %164, 0, !dbg !38
  br i1 %.not.i, label %170, label %165, !dbg !38

165:                                              ; preds = %4
  br i1 %.not1.i, label %168, label %166, !dbg !38

166:                                              ; preds = %165
  %167 = tail call float @llvm.nvvm.sqrt.rn.ftz.f(float %162) #6, !dbg !38
  br label %__nv_sqrtf.exit, !dbg !38

168:                                              ; preds = %165
  %169 = tail call float @llvm.nvvm.sqrt.approx.ftz.f(float %162) #6, !dbg !38
  br label %__nv_sqrtf.exit, !dbg !38

170:                                              ; preds = %4
  br i1 %.not1.i, label %173, label %171, !dbg !38

171:                                              ; preds = %170
  %172 = tail call float @llvm.nvvm.sqrt.rn.f(float %162) #6, !dbg !38
  br label %__nv_sqrtf.exit, !dbg !38

173:                                              ; preds = %170
  %174 = tail call float @llvm.nvvm.sqrt.approx.f(float %162) #6, !dbg !38
  br label %__nv_sqrtf.exit, !dbg !38

__nv_sqrtf.exit:                                  ; preds = %166, %168, %171, %173
  %.0.i = phi float [ %167, %166 ], [ %169, %168 ], [ %172, %171 ], [ %174, %173 ], !dbg !38
  %175 = tail call float @llvm.nvvm.div.full(float 1.000000e+00, float %.0.i), !dbg !39
  %176 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %10, !dbg !40
  %177 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09@$3 ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l,b"(ptr addrspace(1) %13, i1 true) #6, !dbg !41
  %178 = extractvalue { i32, i32 } %177, 0, !dbg !41
  %179 = extractvalue { i32, i32 } %177, 1, !dbg !41
  %180 = bitcast i32 %178 to float, !dbg !41
  %181 = bitcast i32 %179 to float, !dbg !41
  %182 = getelementptr [4 x i8], ptr addrspace(1) %176, i64 %12, !dbg !40
  %183 = fsub float %180, %86, !dbg !42
  %184 = fsub float %181, %86, !dbg !42
  %185 = fmul float %175, %183, !dbg !43
  %186 = fmul float %175, %184, !dbg !43
  %187 = bitcast float %185 to i32, !dbg !44
  %188 = bitcast float %186 to i32, !dbg !44
  tail call void asm sideeffect "@$3 st.global.v2.b32 [ $2 + 0 ], { $0, $1 };", "r,r,l,b"(i32 %187, i32 %188, ptr addrspace(1) %182, i1 true) #6, !dbg !44
  %189 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09@$3 ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l,b"(ptr addrspace(1) %22, i1 true) #6, !dbg !41
  %190 = extractvalue { i32, i32 } %189, 0, !dbg !41
  %191 = extractvalue { i32, i32 } %189, 1, !dbg !41
  %192 = bitcast i32 %190 to float, !dbg !41
  %193 = bitcast i32 %191 to float, !dbg !41
  %194 = getelementptr [4 x i8], ptr addrspace(1) %176, i64 %21, !dbg !40
  %195 = fsub float %192, %86, !dbg !42
  %196 = fsub float %193, %86, !dbg !42
  %197 = fmul float %175, %195, !dbg !43
  %198 = fmul float %175, %196, !dbg !43
  %199 = bitcast float %197 to i32, !dbg !44
  %200 = bitcast float %198 to i32, !dbg !44
  tail call void asm sideeffect "@$3 st.global.v2.b32 [ $2 + 0 ], { $0, $1 };", "r,r,l,b"(i32 %199, i32 %200, ptr addrspace(1) %194, i1 true) #6, !dbg !44
  %201 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09@$3 ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l,b"(ptr addrspace(1) %31, i1 true) #6, !dbg !41
  %202 = extractvalue { i32, i32 } %201, 0, !dbg !41
  %203 = extractvalue { i32, i32 } %201, 1, !dbg !41
  %204 = bitcast i32 %202 to float, !dbg !41
  %205 = bitcast i32 %203 to float, !dbg !41
  %206 = getelementptr [4 x i8], ptr addrspace(1) %176, i64 %30, !dbg !40
  %207 = fsub float %204, %86, !dbg !42
  %208 = fsub float %205, %86, !dbg !42
  %209 = fmul float %175, %207, !dbg !43
  %210 = fmul float %175, %208, !dbg !43
  %211 = bitcast float %209 to i32, !dbg !44
  %212 = bitcast float %210 to i32, !dbg !44
  tail call void asm sideeffect "@$3 st.global.v2.b32 [ $2 + 0 ], { $0, $1 };", "r,r,l,b"(i32 %211, i32 %212, ptr addrspace(1) %206, i1 true) #6, !dbg !44
  %213 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09@$3 ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l,b"(ptr addrspace(1) %41, i1 %40) #6, !dbg !41
  %214 = extractvalue { i32, i32 } %213, 0, !dbg !41
  %215 = extractvalue { i32, i32 } %213, 1, !dbg !41
  %216 = bitcast i32 %214 to float, !dbg !41
  %217 = bitcast i32 %215 to float, !dbg !41
  %218 = getelementptr [4 x i8], ptr addrspace(1) %176, i64 %39, !dbg !40
  %219 = fsub float %216, %86, !dbg !42
  %220 = fsub float %217, %86, !dbg !42
  %221 = fmul float %175, %219, !dbg !43
  %222 = fmul float %175, %220, !dbg !43
  %223 = bitcast float %221 to i32, !dbg !44
  %224 = bitcast float %222 to i32, !dbg !44
  tail call void asm sideeffect "@$3 st.global.v2.b32 [ $2 + 0 ], { $0, $1 };", "r,r,l,b"(i32 %223, i32 %224, ptr addrspace(1) %218, i1 %40) #6, !dbg !44
  ret void, !dbg !45
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.approx.f(float, float) #4

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #4

declare i32 @__nvvm_reflect(ptr) local_unnamed_addr #5

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.sqrt.rn.ftz.f(float) #4

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.sqrt.approx.ftz.f(float) #4

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.sqrt.rn.f(float) #4

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.sqrt.approx.f(float) #4

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none) }
attributes #5 = { "disable-tail-calls"="false" "frame-pointer"="all" "less-precise-fpmad"="false" "no-infs-fp-math"="false" "no-nans-fp-math"="false" "stack-protector-buffer-size"="8" "unsafe-fp-math"="false" "use-soft-float"="false" }
attributes #6 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!llvm.ident = !{!4}
!nvvmir.version = !{!5}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
!5 = !{i32 2, i32 0}
!6 = distinct !DISubprogram(name: "layer_norm", linkageName: "layer_norm", scope: !1, file: !1, line: 71, type: !7, scopeLine: 71, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!7 = !DISubroutineType(cc: DW_CC_normal, types: !8)
!8 = !{null, !9, !9, !11, !11}
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!11 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !12, size: 64, dwarfAddressSpace: 1)
!12 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!13 = !DILocation(line: 72, column: 11, scope: !6)
!14 = !DILocation(line: 75, column: 21, scope: !6)
!15 = !DILocation(line: 76, column: 29, scope: !6)
!16 = !DILocation(line: 76, column: 25, scope: !6)
!17 = !DILocation(line: 74, column: 5, scope: !6)
!18 = !DILocation(line: 76, column: 17, scope: !6)
!19 = !DILocation(line: 76, column: 9, scope: !6)
!20 = !DILocation(line: 75, column: 13, scope: !6)
!21 = !DILocation(line: 76, column: 47, scope: !6)
!22 = !DILocation(line: 287, column: 12, scope: !23, inlinedAt: !25)
!23 = distinct !DILexicalBlockFile(scope: !6, file: !24, discriminator: 0)
!24 = !DIFile(filename: "standard.py", directory: "")
!25 = !DILocation(line: 314, column: 12, scope: !23, inlinedAt: !26)
!26 = !DILocation(line: 77, column: 12, scope: !27)
!27 = distinct !DILexicalBlockFile(scope: !6, file: !1, discriminator: 0)
!28 = !DILocation(line: 77, column: 12, scope: !6)
!29 = !DILocation(line: 81, column: 13, scope: !6)
!30 = !DILocation(line: 82, column: 29, scope: !6)
!31 = !DILocation(line: 83, column: 20, scope: !6)
!32 = !DILocation(line: 83, column: 9, scope: !6)
!33 = !DILocation(line: 82, column: 13, scope: !6)
!34 = !DILocation(line: 314, column: 12, scope: !23, inlinedAt: !35)
!35 = !DILocation(line: 84, column: 25, scope: !27)
!36 = !DILocation(line: 287, column: 12, scope: !23, inlinedAt: !34)
!37 = !DILocation(line: 84, column: 25, scope: !6)
!38 = !DILocation(line: 84, column: 17, scope: !6)
!39 = !DILocation(line: 84, column: 13, scope: !6)
!40 = !DILocation(line: 88, column: 18, scope: !6)
!41 = !DILocation(line: 87, column: 13, scope: !6)
!42 = !DILocation(line: 88, column: 38, scope: !6)
!43 = !DILocation(line: 88, column: 37, scope: !6)
!44 = !DILocation(line: 88, column: 9, scope: !6)
!45 = !DILocation(line: 71, column: 1, scope: !6)
