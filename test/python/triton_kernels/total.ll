; workgroup bytes: 16
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @total(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) nofree readnone captures(none) %3, ptr addrspace(1) nofree readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !12
  %7 = shl i32 %6, 8, !dbg !12
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !13
  %9 = shl nuw nsw i32 %8, 1, !dbg !13
  %10 = and i32 %9, 254, !dbg !13
  %11 = or disjoint i32 %10, %7, !dbg !12
  %12 = icmp slt i32 %11, %2, !dbg !14
  %13 = sext i32 %11 to i64, !dbg !15
  %14 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %13, !dbg !15
  %15 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, $2;\0A\09mov.u32 $1, $3;\0A\09@$5 ld.global.v2.b32 { $0, $1 }, [ $4 + 0 ];", "=r,=r,r,r,l,b"(i32 0, i32 0, ptr addrspace(1) %14, i1 %12) #4, !dbg !16
  %16 = extractvalue { i32, i32 } %15, 0, !dbg !16
  %17 = extractvalue { i32, i32 } %15, 1, !dbg !16
  %18 = bitcast i32 %16 to float, !dbg !16
  %19 = bitcast i32 %17 to float, !dbg !16
  %20 = fadd float %18, %19, !dbg !17
  %21 = bitcast float %20 to i32, !dbg !20
  %22 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %21, i32 16, i32 31), !dbg !20
  %23 = bitcast i32 %22 to float, !dbg !20
  %24 = fadd float %20, %23, !dbg !17
  %25 = bitcast float %24 to i32, !dbg !20
  %26 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %25, i32 8, i32 31), !dbg !20
  %27 = bitcast i32 %26 to float, !dbg !20
  %28 = fadd float %24, %27, !dbg !17
  %29 = bitcast float %28 to i32, !dbg !20
  %30 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %29, i32 4, i32 31), !dbg !20
  %31 = bitcast i32 %30 to float, !dbg !20
  %32 = fadd float %28, %31, !dbg !17
  %33 = bitcast float %32 to i32, !dbg !20
  %34 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %33, i32 2, i32 31), !dbg !20
  %35 = bitcast i32 %34 to float, !dbg !20
  %36 = fadd float %32, %35, !dbg !17
  %37 = bitcast float %36 to i32, !dbg !20
  %38 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %37, i32 1, i32 31), !dbg !20
  %39 = bitcast i32 %38 to float, !dbg !20
  %40 = fadd float %36, %39, !dbg !17
  %41 = lshr i32 %8, 3, !dbg !20
  %42 = and i32 %41, 12, !dbg !20
  %43 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %42, !dbg !20
  store float %40, ptr addrspace(3) %43, align 4, !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  %44 = shl nuw nsw i32 %8, 2, !dbg !20
  %45 = and i32 %44, 12, !dbg !20
  %46 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %45, !dbg !20
  %47 = load i32, ptr addrspace(3) %46, align 4, !dbg !20
  %48 = bitcast i32 %47 to float, !dbg !20
  %49 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %47, i32 2, i32 31), !dbg !20
  %50 = bitcast i32 %49 to float, !dbg !20
  %51 = fadd float %48, %50, !dbg !17
  %52 = bitcast float %51 to i32, !dbg !20
  %53 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %52, i32 1, i32 31), !dbg !20
  %54 = bitcast i32 %53 to float, !dbg !20
  %55 = fadd float %51, %54, !dbg !17
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !23
  %56 = icmp eq i32 %8, 0, !dbg !23
  %57 = tail call float asm sideeffect "mov.u32 $0, 0x0;\0A\09@$3 atom.global.gpu.acq_rel.add.f32 $0, [ $1 + 0 ], $2;", "=r,l,r,b"(ptr addrspace(1) %1, float %55, i1 %56) #4, !dbg !23
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !23
  ret void, !dbg !24
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "total", linkageName: "total", scope: !1, file: !1, line: 92, type: !5, scopeLine: 92, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !10, !10}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !11, size: 64, dwarfAddressSpace: 1)
!11 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!12 = !DILocation(line: 93, column: 9, scope: !4)
!13 = !DILocation(line: 93, column: 32, scope: !4)
!14 = !DILocation(line: 94, column: 51, scope: !4)
!15 = !DILocation(line: 94, column: 39, scope: !4)
!16 = !DILocation(line: 94, column: 31, scope: !4)
!17 = !DILocation(line: 287, column: 12, scope: !18, inlinedAt: !20)
!18 = distinct !DILexicalBlockFile(scope: !4, file: !19, discriminator: 0)
!19 = !DIFile(filename: "standard.py", directory: "")
!20 = !DILocation(line: 314, column: 12, scope: !18, inlinedAt: !21)
!21 = !DILocation(line: 94, column: 24, scope: !22)
!22 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!23 = !DILocation(line: 94, column: 5, scope: !4)
!24 = !DILocation(line: 92, column: 1, scope: !4)
