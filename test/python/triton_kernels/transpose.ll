; workgroup bytes: 4096
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @transpose(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) nofree readnone captures(none) %3, ptr addrspace(1) nofree readnone captures(none) %4) local_unnamed_addr #0 !dbg !4 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !12
  %7 = shl i32 %6, 5, !dbg !12
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !13
  %9 = lshr i32 %8, 3, !dbg !13
  %10 = and i32 %9, 15, !dbg !13
  %11 = or disjoint i32 %10, 16, !dbg !13
  %12 = shl nuw nsw i32 %8, 2, !dbg !13
  %13 = and i32 %12, 28, !dbg !13
  %14 = or disjoint i32 %10, %7, !dbg !12
  %15 = or disjoint i32 %11, %7, !dbg !12
  %16 = or disjoint i32 %13, %7, !dbg !12
  %17 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y(), !dbg !14
  %18 = shl nuw nsw i32 %17, 5, !dbg !14
  %19 = or disjoint i32 %13, %18, !dbg !14
  %20 = or disjoint i32 %10, %18, !dbg !14
  %21 = or disjoint i32 %11, %18, !dbg !14
  %22 = mul i32 %2, %14, !dbg !15
  %23 = mul i32 %15, %2, !dbg !15
  %24 = sext i32 %22 to i64, !dbg !16
  %25 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %24, !dbg !16
  %26 = sext i32 %23 to i64, !dbg !16
  %27 = getelementptr [4 x i8], ptr addrspace(1) %0, i64 %26, !dbg !16
  %28 = zext nneg i32 %19 to i64, !dbg !16
  %29 = getelementptr [4 x i8], ptr addrspace(1) %25, i64 %28, !dbg !16
  %30 = getelementptr [4 x i8], ptr addrspace(1) %27, i64 %28, !dbg !16
  %31 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %29) #3, !dbg !17
  %32 = extractvalue { i32, i32, i32, i32 } %31, 0, !dbg !17
  %33 = extractvalue { i32, i32, i32, i32 } %31, 1, !dbg !17
  %34 = extractvalue { i32, i32, i32, i32 } %31, 2, !dbg !17
  %35 = extractvalue { i32, i32, i32, i32 } %31, 3, !dbg !17
  %36 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %30) #3, !dbg !17
  %37 = extractvalue { i32, i32, i32, i32 } %36, 0, !dbg !17
  %38 = extractvalue { i32, i32, i32, i32 } %36, 1, !dbg !17
  %39 = extractvalue { i32, i32, i32, i32 } %36, 2, !dbg !17
  %40 = extractvalue { i32, i32, i32, i32 } %36, 3, !dbg !17
  %41 = mul i32 %2, %20, !dbg !18
  %42 = mul i32 %21, %2, !dbg !18
  %43 = sext i32 %41 to i64, !dbg !19
  %44 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %43, !dbg !19
  %45 = sext i32 %42 to i64, !dbg !19
  %46 = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %45, !dbg !19
  %47 = sext i32 %16 to i64, !dbg !19
  %48 = getelementptr [4 x i8], ptr addrspace(1) %44, i64 %47, !dbg !19
  %49 = getelementptr [4 x i8], ptr addrspace(1) %46, i64 %47, !dbg !19
  %50 = shl nuw nsw i32 %8, 7, !dbg !20
  %51 = and i32 %50, 1536, !dbg !20
  %52 = shl nuw nsw i32 %8, 3, !dbg !20
  %53 = and i32 %52, 120, !dbg !20
  %54 = and i32 %8, 96, !dbg !20
  %55 = and i32 %8, 16, !dbg !20
  %56 = icmp eq i32 %55, 0, !dbg !20
  %57 = select i1 %56, i32 0, i32 2052, !dbg !20
  %58 = or disjoint i32 %51, %53, !dbg !20
  %59 = xor i32 %58, %54, !dbg !20
  %60 = or disjoint i32 %59, %57, !dbg !20
  %61 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %60, !dbg !20
  %62 = insertelement <1 x i32> poison, i32 %32, i64 0, !dbg !20
  store <1 x i32> %62, ptr addrspace(3) %61, align 4, !dbg !20
  %63 = xor i32 %60, 136, !dbg !20
  %64 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %63, !dbg !20
  %65 = insertelement <1 x i32> poison, i32 %33, i64 0, !dbg !20
  store <1 x i32> %65, ptr addrspace(3) %64, align 4, !dbg !20
  %66 = xor i32 %60, 272, !dbg !20
  %67 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %66, !dbg !20
  %68 = insertelement <1 x i32> poison, i32 %34, i64 0, !dbg !20
  store <1 x i32> %68, ptr addrspace(3) %67, align 4, !dbg !20
  %69 = xor i32 %60, 408, !dbg !20
  %70 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %69, !dbg !20
  %71 = insertelement <1 x i32> poison, i32 %35, i64 0, !dbg !20
  store <1 x i32> %71, ptr addrspace(3) %70, align 4, !dbg !20
  %72 = xor i32 %60, 4, !dbg !20
  %73 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %72, !dbg !20
  %74 = insertelement <1 x i32> poison, i32 %37, i64 0, !dbg !20
  store <1 x i32> %74, ptr addrspace(3) %73, align 4, !dbg !20
  %75 = xor i32 %60, 140, !dbg !20
  %76 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %75, !dbg !20
  %77 = insertelement <1 x i32> poison, i32 %38, i64 0, !dbg !20
  store <1 x i32> %77, ptr addrspace(3) %76, align 4, !dbg !20
  %78 = xor i32 %60, 276, !dbg !20
  %79 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %78, !dbg !20
  %80 = insertelement <1 x i32> poison, i32 %39, i64 0, !dbg !20
  store <1 x i32> %80, ptr addrspace(3) %79, align 4, !dbg !20
  %81 = xor i32 %60, 412, !dbg !20
  %82 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %81, !dbg !20
  %83 = insertelement <1 x i32> poison, i32 %40, i64 0, !dbg !20
  store <1 x i32> %83, ptr addrspace(3) %82, align 4, !dbg !20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !20
  %84 = shl nuw nsw i32 %8, 5, !dbg !20
  %85 = and i32 %84, 96, !dbg !20
  %86 = shl nuw nsw i32 %8, 4, !dbg !20
  %87 = and i32 %86, 384, !dbg !20
  %88 = and i32 %8, 28, !dbg !20
  %89 = lshr exact i32 %54, 2, !dbg !20
  %90 = or disjoint i32 %85, %87, !dbg !20
  %91 = xor i32 %89, %88, !dbg !20
  %92 = or disjoint i32 %90, %91, !dbg !20
  %93 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %92, !dbg !20
  %94 = load i32, ptr addrspace(3) %93, align 4, !dbg !20
  %95 = xor i32 %92, 1088, !dbg !20
  %96 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %95, !dbg !20
  %97 = load i32, ptr addrspace(3) %96, align 4, !dbg !20
  %98 = xor i32 %92, 2052, !dbg !20
  %99 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %98, !dbg !20
  %100 = load i32, ptr addrspace(3) %99, align 4, !dbg !20
  %101 = xor i32 %92, 3140, !dbg !20
  %102 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %101, !dbg !20
  %103 = load i32, ptr addrspace(3) %102, align 4, !dbg !20
  %104 = xor i32 %92, 544, !dbg !20
  %105 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %104, !dbg !20
  %106 = load i32, ptr addrspace(3) %105, align 4, !dbg !20
  %107 = xor i32 %92, 1632, !dbg !20
  %108 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %107, !dbg !20
  %109 = load i32, ptr addrspace(3) %108, align 4, !dbg !20
  %110 = xor i32 %92, 2596, !dbg !20
  %111 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %110, !dbg !20
  %112 = load i32, ptr addrspace(3) %111, align 4, !dbg !20
  %113 = xor i32 %92, 3684, !dbg !20
  %114 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %113, !dbg !20
  %115 = load i32, ptr addrspace(3) %114, align 4, !dbg !20
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %94, i32 %97, i32 %100, i32 %103, ptr addrspace(1) %48) #3, !dbg !20
  tail call void asm sideeffect "st.global.v4.b32 [ $4 + 0 ], { $0, $1, $2, $3 };", "r,r,r,r,l"(i32 %106, i32 %109, i32 %112, i32 %115, ptr addrspace(1) %49) #3, !dbg !20
  ret void, !dbg !21
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
!4 = distinct !DISubprogram(name: "transpose", linkageName: "transpose", scope: !1, file: !1, line: 57, type: !5, scopeLine: 57, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !6)
!6 = !{null, !7, !7, !9, !10, !10}
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !8, size: 64, dwarfAddressSpace: 1)
!8 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "pointer", baseType: !11, size: 64, dwarfAddressSpace: 1)
!11 = !DIBasicType(name: "unknown_type", encoding: DW_ATE_signed)
!12 = !DILocation(line: 58, column: 9, scope: !4)
!13 = !DILocation(line: 58, column: 32, scope: !4)
!14 = !DILocation(line: 59, column: 9, scope: !4)
!15 = !DILocation(line: 60, column: 21, scope: !4)
!16 = !DILocation(line: 60, column: 17, scope: !4)
!17 = !DILocation(line: 60, column: 9, scope: !4)
!18 = !DILocation(line: 61, column: 20, scope: !4)
!19 = !DILocation(line: 61, column: 14, scope: !4)
!20 = !DILocation(line: 61, column: 5, scope: !4)
!21 = !DILocation(line: 57, column: 1, scope: !4)
