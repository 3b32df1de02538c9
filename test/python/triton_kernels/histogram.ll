; workgroup bytes: 2048
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @histogram(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) nofree readnone captures(none) %2, ptr addrspace(1) nofree readnone captures(none) %3) local_unnamed_addr #0 !dbg !4 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !11
  %6 = shl i32 %5, 8, !dbg !11
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !12
  %8 = and i32 %7, 127, !dbg !12
  %9 = shl nuw nsw i32 %8, 1, !dbg !12
  %10 = or disjoint i32 %9, %6, !dbg !11
  %11 = sext i32 %10 to i64, !dbg !13
  %12 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %11, !dbg !13
  %13 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l"(ptr addrspace(1) %12) #3, !dbg !14
  %14 = extractvalue { i32, i32 } %13, 0, !dbg !14
  %15 = extractvalue { i32, i32 } %13, 1, !dbg !14
  %16 = sext i32 %14 to i64, !dbg !15
  %17 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %16, !dbg !15
  %18 = sext i32 %15 to i64, !dbg !15
  %19 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %18, !dbg !15
  %20 = ptrtoint ptr addrspace(1) %17 to i64, !dbg !16
  %21 = ptrtoint ptr addrspace(1) %19 to i64, !dbg !16
  %22 = shl nuw nsw i32 %8, 3, !dbg !16
  %23 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %22, !dbg !16
  %24 = insertelement <1 x i64> poison, i64 %20, i64 0, !dbg !16
  store <1 x i64> %24, ptr addrspace(3) %23, align 8, !dbg !16
  %25 = xor i32 %22, 1088, !dbg !16
  %26 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %25, !dbg !16
  %27 = insertelement <1 x i64> poison, i64 %21, i64 0, !dbg !16
  store <1 x i64> %27, ptr addrspace(3) %26, align 8, !dbg !16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !16
  %28 = shl nuw nsw i32 %7, 2, !dbg !16
  %29 = and i32 %28, 504, !dbg !16
  %30 = and i32 %7, 1, !dbg !16
  %31 = icmp eq i32 %30, 0, !dbg !16
  %32 = select i1 %31, i32 0, i32 1088, !dbg !16
  %33 = xor i32 %32, %29, !dbg !16
  %34 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %33, !dbg !16
  %35 = load i64, ptr addrspace(3) %34, align 8, !dbg !16
  %36 = getelementptr inbounds nuw i8, ptr addrspace(3) %34, i32 512, !dbg !16
  %37 = load i64, ptr addrspace(3) %36, align 8, !dbg !16
  %38 = inttoptr i64 %35 to ptr addrspace(1), !dbg !16
  %39 = inttoptr i64 %37 to ptr addrspace(1), !dbg !16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !16
  %40 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$3 atom.global.gpu.acq_rel.add.u32 $0, [ $1 + 0 ], $2;", "=r,l,r,b"(ptr addrspace(1) %38, i32 1, i1 true) #3, !dbg !16
  %41 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$3 atom.global.gpu.acq_rel.add.u32 $0, [ $1 + 0 ], $2;", "=r,l,r,b"(ptr addrspace(1) %39, i32 1, i1 true) #3, !dbg !16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !16
  ret void, !dbg !17
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "histogram", linkageName: "histogram", scope: !1, file: !1, line: 51, type: !5, scopeLine: 51, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !9}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!11 = !DILocation(line: 52, column: 9, scope: !4)
!12 = !DILocation(line: 52, column: 32, scope: !4)
!13 = !DILocation(line: 53, column: 33, scope: !4)
!14 = !DILocation(line: 53, column: 25, scope: !4)
!15 = !DILocation(line: 53, column: 19, scope: !4)
!16 = !DILocation(line: 53, column: 5, scope: !4)
!17 = !DILocation(line: 51, column: 1, scope: !4)
