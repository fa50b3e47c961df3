package io.helenus.agent.points;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Reads the methods of a class from its class file, without loading or linking the class. */
final class ClassFiles {
  static final int ASM = Opcodes.ASM9;

  private ClassFiles() {}

  /**
   * The methods that can be woven; null when the loader has no file of that class.
   *
   * @param loader null for the bootstrap loader
   */
  static List<Method> methods(ClassLoader loader, String className) {
    String file = className.replace('.', '/') + ".class";
    try (InputStream in =
        loader == null
            ? ClassLoader.getSystemResourceAsStream(file)
            : loader.getResourceAsStream(file)) {
      return in == null ? null : methods(in.readAllBytes());
    } catch (IOException e) {
      return null;
    }
  }

  static List<Method> methods(byte[] classFile) {
    List<Method> methods = new ArrayList<>();
    ClassReader reader = new ClassReader(classFile);
    String className = reader.getClassName().replace('/', '.');
    reader.accept(
        new ClassVisitor(ASM) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            Method method = new Method(className, name, descriptor, access);
            if (method.isWeavable()) {
              methods.add(method);
            }
            return null;
          }
        },
        ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return methods;
  }
}
