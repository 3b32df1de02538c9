; workgroup bytes: 4096
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @turn(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) nofree readnone captures(none) %2, ptr addrspace(1) nofree readnone captures(none) %3) local_unnamed_addr #0 !dbg !4 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !11
  %6 = shl i32 %5, 5, !dbg !11
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !12
  %8 = lshr i32 %7, 3, !dbg !12
  %9 = and i32 %8, 15, !dbg !12
  %10 = or disjoint i32 %9, 16, !dbg !12
  %11 = shl nuw nsw i32 %7, 2, !dbg !12
  %12 = and i32 %11, 28, !dbg !12
  %13 = or disjoint i32 %9, %6, !dbg !11
  %14 = or disjoint i32 %10, %6, !dbg !11
  %15 = or disjoint i32 %12, %6, !dbg !11
  %16 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y(), !dbg !13
  %17 = shl nuw nsw i32 %16, 5, !dbg !13
  %18 = or disjoint i32 %12, %17, !dbg !13
  %19 = or disjoint i32 %9, %17, !dbg !13
  %20 = or disjoint i32 %10, %17, !dbg !13
  %21 = shl i32 %13, 6, !dbg !14
  %22 = shl i32 %14, 6, !dbg !14
  %23 = sext i32 %21 to i64, !dbg !15
  %24 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %23, !dbg !15
  %25 = sext i32 %22 to i64, !dbg !15
  %26 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %25, !dbg !15
  %27 = zext nneg i32 %18 to i64, !dbg !15
  %28 = getelementptr [4 x i8], ptr addrspace(1) %24, i64 %27, !dbg !15
  %29 = getelementptr [4 x i8], ptr addrspace(1) %26, i64 %27, !dbg !15
  %30 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %28) #3, !dbg !16
  %31 = extractvalue { i32, i32, i32, i32 } %30, 0, !dbg !16
  %32 = extractvalue { i32, i32, i32, i32 } %30, 1, !dbg !16
  %33 = extractvalue { i32, i32, i32, i32 } %30, 2, !dbg !16
  %34 = extractvalue { i32, i32, i32, i32 } %30, 3, !dbg !16
  %35 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %29) #3, !dbg !16
  %36 = extractvalue { i32, i32, i32, i32 } %35, 0, !dbg !16
  %37 = extractvalue { i32, i32, i32, i32 } %35, 1, !dbg !16
  %38 = extractvalue { i32, i32, i32, i32 } %35, 2, !dbg !16
  %39 = extractvalue { i32, i32, i32, i32 } %35, 3, !dbg !16
  %40 = shl nuw nsw i32 %19, 6, !dbg !17
  %41 = shl nuw nsw i32 %20, 6, !dbg !17
  %42 = zext nneg i32 %40 to i64, !dbg !18
  %43 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %42, !dbg !18
  %44 = zext nneg i32 %41 to i64, !dbg !18
  %45 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %44, !dbg !18
  %46 = sext i32 %15 to i64, !dbg !18
  %47 = getelementptr [4 x i8], ptr addrspace(1) %43, i64 %46, !dbg !18
  %48 = getelementptr [4 x i8], ptr addrspace(1) %45, i64 %46, !dbg !18
  %49 = shl nuw nsw i32 %7, 7, !dbg !19
  %50 = and i32 %49, 1536, !dbg !19
  %51 = shl nuw nsw i32 %7, 3, !dbg !19
  %52 = and i32 %51, 120, !dbg !19
  %53 = and i32 %7, 96, !dbg !19
  %54 = and i32 %7, 16, !dbg !19
  %55 = icmp eq i32 %54, 0, !dbg !19
  %56 = select i1 %55, i32 0, i32 2052, !dbg !19
  %57 = or disjoint i32 %50, %52, !dbg !19
  %58 = xor i32 %57, %53, !dbg !19
  %59 = or disjoint i32 %58, %56, !dbg !19
  %60 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %59, !dbg !19
  %61 = insertelement <1 x i32> poison, i32 %31, i64 0, !dbg !19
  store <1 x i32> %61, ptr addrspace(3) %60, align 4, !dbg !19
  %62 = xor i32 %59, 136, !dbg !19
  %63 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %62, !dbg !19
  %64 = insertelement <1 x i32> poison, i32 %32, i64 0, !dbg !19
  store <1 x i32> %64, ptr addrspace(3) %63, align 4, !dbg !19
  %65 = xor i32 %59, 272, !dbg !19
  %66 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %65, !dbg !19
  %67 = insertelement <1 x i32> poison, i32 %33, i64 0, !dbg !19
  store <1 x i32> %67, ptr addrspace(3) %66, align 4, !dbg !19
  %68 = xor i32 %59, 408, !dbg !19
  %69 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %68, !dbg !19
  %70 = insertelement <1 x i32> poison, i32 %34, i64 0, !dbg !19
  store <1 x i32> %70, ptr addrspace(3) %69, align 4, !dbg !19
  %71 = xor i32 %59, 4, !dbg !19
  %72 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %71, !dbg !19
  %73 = insertelement <1 x i32> poison, i32 %36, i64 0, !dbg !19
  store <1 x i32> %73, ptr addrspace(3) %72, align 4, !dbg !19
  %74 = xor i32 %59, 140, !dbg !19
  %75 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %74, !dbg !19
  %76 = insertelement <1 x i32> poison, i32 %37, i64 0, !dbg !19
  store <1 x i32> %76, ptr addrspace(3) %75, align 4, !dbg !19
  %77 = xor i32 %59, 276, !dbg !19
  %78 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %77, !dbg !19
  %79 = insertelement <1 x i32> poison, i32 %38, i64 0, !dbg !19
  store <1 x i32> %79, ptr addrspace(3) %78, align 4, !dbg !19
  %80 = xor i32 %59, 412, !dbg !19
  %81 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %80, !dbg !19
  %82 = insertelement <1 x i32> poison, i32 %39, i64 0, !dbg !19
  store <1 x i32> %82, ptr addrspace(3) %81, align 4, !dbg !19
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !19
  %83 = shl nuw nsw i32 %7, 5, !dbg !19
  %84 = and i32 %83, 96, !dbg !19
  %85 = shl nuw nsw i32 %7, 4, !dbg !19
  %86 = and i32 %85, 384, !dbg !19
  %87 = and i32 %7, 28, !dbg !19
  %88 = lshr exact i32 %53, 2, !dbg !19
  %89 = or disjoint i32 %84, %86, !dbg !19
  %90 = xor i32 %88, %87, !dbg !19
  %91 = or disjoint i32 %89, %90, !dbg !19
  %92 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %91, !dbg !19
  %93 = load i32, ptr addrspace(3) %92, align 4, !dbg !19
  %94 = xor i32 %91, 1088, !dbg !19
  %95 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %94, !dbg !19
  %96 = load i32, ptr addrspace(3) %95, align 4, !dbg !19
  %97 = xor i32 %91, 2052, !dbg !19
  %98 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %97, !dbg !19
  %99 = load i32, ptr addrspace(3) %98, align 4, !dbg !19
  %100 = xor i32 %91, 3140, !dbg !19
  %101 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %100, !dbg !19
  %102 = load i32, ptr addrspace(3) %101, align 4, !dbg !19
  %103 = xor i32 %91, 544, !dbg !19
  %104 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %103, !dbg !19
  %105 = load i32, ptr addrspace(3) %104, align 4, !dbg !19
  %106 = xor i32 %91, 1632, !dbg !19
  %107 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %106, !dbg !19
  %108 = load i32, ptr addrspace(3) %107, align 4, !dbg !19
  %109 = xor i32 %91, 2596, !dbg !19
  %110 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %109, !dbg !19
  %111 = load i32, ptr addrspace(3) %110, align 4, !dbg !19
  %112 = xor i32 %91, 3684, !dbg !19
  %113 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %112, !dbg !19
  %114 = load i32, ptr addrspace(3) %113, align 4, !dbg !19
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %93, i32 %96, i32 %99, i32 %102, ptr addrspace(1) %47) #3, !dbg !19
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %105, i32 %108, i32 %111, i32 %114, ptr addrspace(1) %48) #3, !dbg !19
  ret void, !dbg !20
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

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
!4 = distinct !DISubprogram(name: "turn", linkageName: "turn", scope: !1, file: !1, line: 111, type: !5, scopeLine: 111, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !9}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !10, size: 64, dwarfAddressSpace: 1)
!10 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!11 = !DILocation(line: 112, column: 9, scope: !4)
!12 = !DILocation(line: 112, column: 32, scope: !4)
!13 = !DILocation(line: 113, column: 9, scope: !4)
!14 = !DILocation(line: 114, column: 21, scope: !4)
!15 = !DILocation(line: 114, column: 17, scope: !4)
!16 = !DILocation(line: 114, column: 9, scope: !4)
!17 = !DILocation(line: 115, column: 20, scope: !4)
!18 = !DILocation(line: 115, column: 14, scope: !4)
!19 = !DILocation(line: 115, column: 5, scope: !4)
!20 = !DILocation(line: 111, column: 1, scope: !4)
