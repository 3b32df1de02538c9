; workgroup bytes: 0
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @halves(ptr addrspace(1) %0, ptr addrspace(1) nofree readnone captures(none) %1, ptr addrspace(1) nofree readnone captures(none) %2) local_unnamed_addr #0 !dbg !4 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !11
  %5 = and i32 %4, 127, !dbg !11
  %6 = or disjoint i32 %5, 128, !dbg !11
  %7 = lshr i32 %5, 1, !dbg !12
  %8 = lshr i32 %6, 1, !dbg !12
  %9 = zext nneg i32 %7 to i64, !dbg !13
  %10 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %9, !dbg !13
  %11 = zext nneg i32 %8 to i64, !dbg !13
  %12 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %11, !dbg !13
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %5, ptr addrspace(1) %10) #2, !dbg !14
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %6, ptr addrspace(1) %12) #2, !dbg !14
  ret void, !dbg !15
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernels.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "halves", linkageName: "halves", scope: !1, file: !1, line: 65, type: !5, scopeLine: 65, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !9, !9}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!11 = !DILocation(line: 66, column: 9, scope: !4)
!12 = !DILocation(line: 67, column: 18, scope: !4)
!13 = !DILocation(line: 67, column: 14, scope: !4)
!14 = !DILocation(line: 67, column: 5, scope: !4)
!15 = !DILocation(line: 65, column: 1, scope: !4)
