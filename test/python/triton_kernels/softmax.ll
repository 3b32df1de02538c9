; workgroup bytes: 16
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @softmax(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) nofree readnone captures(none) %3, ptr addrspace(1) nofree readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !12
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !13
  %8 = shl nuw nsw i32 %7, 1, !dbg !13
  %9 = and i32 %8, 254, !dbg !13
  %10 = icmp slt i32 %9, %2, !dbg !14
  %11 = mul i32 %2, %6, !dbg !15
  %12 = sext i32 %11 to i64, !dbg !16
  %13 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %12, !dbg !16
  %14 = zext nneg i32 %9 to i64, !dbg !16
  %15 = getelementptr [4 x i8], ptr addrspace(1) %13, i64 %14, !dbg !16
  %16 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 -8388608, i32 -8388608, ptr addrspace(1) %15, i1 %10) #7, !dbg !17
  %17 = extractvalue { i32, i32 } %16, 0, !dbg !17
  %18 = extractvalue { i32, i32 } %16, 1, !dbg !17
  %19 = bitcast i32 %17 to float, !dbg !17
  %20 = bitcast i32 %18 to float, !dbg !17
  %21 = tail call float @llvm.maxnum.f32(float %19, float %20), !dbg !18
  %22 = bitcast float %21 to i32, !dbg !21
  %23 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %22, i32 16, i32 31), !dbg !21
  %24 = bitcast i32 %23 to float, !dbg !21
  %25 = tail call float @llvm.maxnum.f32(float %21, float %24), !dbg !18
  %26 = bitcast float %25 to i32, !dbg !21
  %27 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %26, i32 8, i32 31), !dbg !21
  %28 = bitcast i32 %27 to float, !dbg !21
  %29 = tail call float @llvm.maxnum.f32(float %25, float %28), !dbg !18
  %30 = bitcast float %29 to i32, !dbg !21
  %31 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %30, i32 4, i32 31), !dbg !21
  %32 = bitcast i32 %31 to float, !dbg !21
  %33 = tail call float @llvm.maxnum.f32(float %29, float %32), !dbg !18
  %34 = bitcast float %33 to i32, !dbg !21
  %35 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %34, i32 2, i32 31), !dbg !21
  %36 = bitcast i32 %35 to float, !dbg !21
  %37 = tail call float @llvm.maxnum.f32(float %33, float %36), !dbg !18
  %38 = bitcast float %37 to i32, !dbg !21
  %39 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %38, i32 1, i32 31), !dbg !21
  %40 = bitcast i32 %39 to float, !dbg !21
  %41 = tail call float @llvm.maxnum.f32(float %37, float %40), !dbg !18
  %42 = lshr i32 %7, 3, !dbg !21
  %43 = and i32 %42, 12, !dbg !21
  %44 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %43, !dbg !21
  store float %41, ptr addrspace(3) %44, align 4, !dbg !21
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !21
  %45 = shl nuw nsw i32 %7, 2, !dbg !21
  %46 = and i32 %45, 12, !dbg !21
  %47 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %46, !dbg !21
  %48 = load i32, ptr addrspace(3) %47, align 4, !dbg !21
  %49 = bitcast i32 %48 to float, !dbg !21
  %50 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %48, i32 2, i32 31), !dbg !21
  %51 = bitcast i32 %50 to float, !dbg !21
  %52 = tail call float @llvm.maxnum.f32(float %49, float %51), !dbg !18
  %53 = bitcast float %52 to i32, !dbg !21
  %54 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %53, i32 1, i32 31), !dbg !21
  %55 = bitcast i32 %54 to float, !dbg !21
  %56 = tail call float @llvm.maxnum.f32(float %52, float %55), !dbg !18
  %57 = fsub float %19, %56, !dbg !24
  %58 = fsub float %20, %56, !dbg !24
  %59 = fmul float %57, f0x3FB8AA3B, !dbg !25
  %60 = tail call float @llvm.nvvm.ex2.approx.f32(float %59), !dbg !25
  %61 = fmul float %58, f0x3FB8AA3B, !dbg !25
  %62 = tail call float @llvm.nvvm.ex2.approx.f32(float %61), !dbg !25
  %63 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %12, !dbg !26
  %64 = getelementptr [4 x i8], ptr addrspace(1) %63, i64 %14, !dbg !26
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !27
  %65 = fadd float %60, %62, !dbg !29
  %66 = bitcast float %65 to i32, !dbg !27
  %67 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %66, i32 16, i32 31), !dbg !27
  %68 = bitcast i32 %67 to float, !dbg !27
  %69 = fadd float %65, %68, !dbg !29
  %70 = bitcast float %69 to i32, !dbg !27
  %71 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %70, i32 8, i32 31), !dbg !27
  %72 = bitcast i32 %71 to float, !dbg !27
  %73 = fadd float %69, %72, !dbg !29
  %74 = bitcast float %73 to i32, !dbg !27
  %75 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %74, i32 4, i32 31), !dbg !27
  %76 = bitcast i32 %75 to float, !dbg !27
  %77 = fadd float %73, %76, !dbg !29
  %78 = bitcast float %77 to i32, !dbg !27
  %79 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %78, i32 2, i32 31), !dbg !27
  %80 = bitcast i32 %79 to float, !dbg !27
  %81 = fadd float %77, %80, !dbg !29
  %82 = bitcast float %81 to i32, !dbg !27
  %83 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %82, i32 1, i32 31), !dbg !27
  %84 = bitcast i32 %83 to float, !dbg !27
  %85 = fadd float %81, %84, !dbg !29
  store float %85, ptr addrspace(3) %44, align 4, !dbg !27
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !27
  %86 = load i32, ptr addrspace(3) %47, align 4, !dbg !27
  %87 = bitcast i32 %86 to float, !dbg !27
  %88 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %86, i32 2, i32 31), !dbg !27
  %89 = bitcast i32 %88 to float, !dbg !27
  %90 = fadd float %87, %89, !dbg !29
  %91 = bitcast float %90 to i32, !dbg !27
  %92 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %91, i32 1, i32 31), !dbg !27
  %93 = bitcast i32 %92 to float, !dbg !27
  %94 = fadd float %90, %93, !dbg !29
  %95 = tail call float @llvm.nvvm.div.full(float %60, float %94), !dbg !30
  %96 = tail call float @llvm.nvvm.div.full(float %62, float %94), !dbg !30
  %97 = bitcast float %95 to i32, !dbg !31
  %98 = bitcast float %96 to i32, !dbg !31
  tail call void asm sideeffect "@$3 st.global.v2.b32 [ $2 + 0 ], { $0, $1 };", "r,r,l,b"(i32 %97, i32 %98, ptr addrspace(1) %64, i1 %10) #7, !dbg !31
  ret void, !dbg !32
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maxnum.f32(float, float) #2

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #3

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #4

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.ex2.approx.f32(float) #5

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #6

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #4 = { convergent nocallback nounwind }
attributes #5 = { mustprogress nocallback nofree nosync nounwind willreturn memory(none) }
attributes #6 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none) }
attributes #7 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "softmax", linkageName: "softmax", scope: !1, file: !1, line: 28, type: !5, scopeLine: 28, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !10, !10}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !11, size: 64, dwarfAddressSpace: 1)
!11 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!12 = !DILocation(line: 29, column: 11, scope: !4)
!13 = !DILocation(line: 30, column: 9, scope: !4)
!14 = !DILocation(line: 31, column: 39, scope: !4)
!15 = !DILocation(line: 31, column: 21, scope: !4)
!16 = !DILocation(line: 31, column: 17, scope: !4)
!17 = !DILocation(line: 31, column: 9, scope: !4)
!18 = !DILocation(line: 196, column: 12, scope: !19, inlinedAt: !21)
!19 = distinct !DILexicalBlockFile(scope: !4, file: !20, discriminator: 0)
!20 = !DIFile(filename: "standard.py", directory: "")
!21 = !DILocation(line: 216, column: 16, scope: !19, inlinedAt: !22)
!22 = !DILocation(line: 32, column: 13, scope: !23)
!23 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!24 = !DILocation(line: 32, column: 9, scope: !4)
!25 = !DILocation(line: 33, column: 9, scope: !4)
!26 = !DILocation(line: 34, column: 14, scope: !4)
!27 = !DILocation(line: 314, column: 12, scope: !19, inlinedAt: !28)
!28 = !DILocation(line: 34, column: 37, scope: !23)
!29 = !DILocation(line: 287, column: 12, scope: !19, inlinedAt: !27)
!30 = !DILocation(line: 34, column: 33, scope: !4)
!31 = !DILocation(line: 34, column: 5, scope: !4)
!32 = !DILocation(line: 28, column: 1, scope: !4)
