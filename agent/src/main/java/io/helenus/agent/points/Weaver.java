package io.helenus.agent.points;

import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Weaves calls of the hook around the code of methods:
 *
 * <pre>
 * Hook.enter(site);            // or Hook.enterIf(this, site)
 * try {
 *   ...                        // Hook.exit(site) before each return
 * } catch (Throwable e) {
 *   Hook.exit(~site);
 *   throw e;
 * }
 * </pre>
 *
 * <p>or before it:
 *
 * <pre>
 * if (Hook.take(this, argument)) {
 *   return argument;           // or nothing, as the method does
 * }
 * </pre>
 *
 * <p>No local variable is added, because the thread's state keeps what a call has to remember. So
 * the method's stack map frames stay as they are, and the one frame that is added names no
 * variables and fits wherever an exception comes from. ASM alone suffices for that (125 KB; Byte
 * Buddy has 9 MB, and its first weave in a JVM costs CPU seconds that a running server would
 * notice).
 */
final class Weaver {
  private static final String HOOK = "io/helenus/agent/Hook";

  enum Kind {
    AROUND,
    AROUND_GUARDED,
    DIVERT
  }

  /** A call of the hook to weave. */
  static final class HookCall {
    final int site;
    final Kind kind;

    HookCall(int site, Kind kind) {
      this.site = site;
      this.kind = kind;
    }
  }

  private Weaver() {}

  /**
   * Returns the class file with the calls woven in.
   *
   * @param calls by the method's name and descriptor, the outermost last
   */
  static byte[] weave(byte[] classFile, Map<String, List<HookCall>> calls) {
    ClassReader reader = new ClassReader(classFile);
    // With the reader, methods without woven code are copied unchanged.
    ClassWriter writer = new ClassWriter(reader, 0);
    boolean frames = reader.readUnsignedShort(6) >= Opcodes.V1_6;
    reader.accept(
        new ClassVisitor(ClassFiles.ASM, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor woven =
                super.visitMethod(access, name, descriptor, signature, exceptions);
            for (HookCall call : calls.getOrDefault(name + descriptor, List.of())) {
              woven =
                  call.kind == Kind.DIVERT
                      ? new Diverting(woven, Type.getReturnType(descriptor), frames)
                      : new Around(woven, call, frames);
            }
            return woven;
          }
        },
        0);
    return writer.toByteArray();
  }

  private static final class Diverting extends MethodVisitor {
    private final Type returned;
    private final boolean frames;

    Diverting(MethodVisitor next, Type returned, boolean frames) {
      super(ClassFiles.ASM, next);
      this.returned = returned;
      this.frames = frames;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      Label own = new Label();
      mv.visitVarInsn(Opcodes.ALOAD, 0);
      mv.visitVarInsn(Opcodes.ALOAD, 1);
      mv.visitMethodInsn(
          Opcodes.INVOKESTATIC, HOOK, "take", "(Ljava/lang/Object;Ljava/lang/Object;)Z", false);
      mv.visitJumpInsn(Opcodes.IFEQ, own);
      if (returned.getSort() == Type.VOID) {
        mv.visitInsn(Opcodes.RETURN);
      } else {
        mv.visitVarInsn(Opcodes.ALOAD, 1);
        mv.visitInsn(Opcodes.ARETURN);
      }
      mv.visitLabel(own);
      if (frames) {
        mv.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
      }
      // If the method has a stack map frame at its first instruction, the two frames need an
      // instruction between them.
      mv.visitInsn(Opcodes.NOP);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
      super.visitMaxs(Math.max(2, maxStack), maxLocals);
    }
  }

  private static final class Around extends MethodVisitor {
    private final HookCall call;
    private final boolean frames;
    private final Label start = new Label();

    Around(MethodVisitor next, HookCall call, boolean frames) {
      super(ClassFiles.ASM, next);
      this.call = call;
      this.frames = frames;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (call.kind == Kind.AROUND_GUARDED) {
        mv.visitVarInsn(Opcodes.ALOAD, 0);
        call("enterIf", "(Ljava/lang/Object;I)V", call.site);
      } else {
        call("enter", "(I)V", call.site);
      }
      mv.visitLabel(start);
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
        call("exit", "(I)V", call.site);
      }
      super.visitInsn(opcode);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
      Label handler = new Label();
      mv.visitTryCatchBlock(start, handler, handler, null);
      mv.visitLabel(handler);
      if (frames) {
        mv.visitFrame(Opcodes.F_FULL, 0, null, 1, new Object[] {"java/lang/Throwable"});
      }
      call("exit", "(I)V", ~call.site);
      mv.visitInsn(Opcodes.ATHROW);
      super.visitMaxs(Math.max(2, maxStack + 1), maxLocals);
    }

    private void call(String method, String descriptor, int site) {
      mv.visitLdcInsn(site);
      mv.visitMethodInsn(Opcodes.INVOKESTATIC, HOOK, method, descriptor, false);
    }
  }
}
