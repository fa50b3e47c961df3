package io.helenus.agent.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The subset of JSON (RFC 8259) that the protocol needs, so that the jar needs no library.
 *
 * <p>Objects are Map, arrays List, whole numbers Long, others Double. Nesting is bounded, since the
 * text comes from outside.
 */
public final class Json {
  private static final int DEPTH = 16;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /**
   * @throws IllegalArgumentException if the text isn't one JSON value
   */
  public static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.space();
    if (json.at < text.length()) {
      throw json.error("more after the value");
    }
    return value;
  }

  /** A string as a JSON literal; null for null. */
  public static String quote(String value) {
    if (value == null) {
      return "null";
    }
    StringBuilder out = new StringBuilder("\"");
    for (char c : value.toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }

  /** Writes what {@link #parse} returns; also other numbers, and other values as text. */
  public static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof Map) {
      String joint = "{";
      for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
        out.append(joint).append(quote(String.valueOf(entry.getKey()))).append(':');
        write(entry.getValue(), out);
        joint = ",";
      }
      out.append(joint.equals("{") ? "{}" : "}");
    } else if (value instanceof Iterable) {
      String joint = "[";
      for (Object element : (Iterable<?>) value) {
        out.append(joint);
        write(element, out);
        joint = ",";
      }
      out.append(joint.equals("[") ? "[]" : "]");
    } else if (value instanceof Double && !Double.isFinite((Double) value)) {
      out.append("null");
    } else if (value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else {
      out.append(quote(value == null ? null : value.toString()));
    }
  }

  private Object value(int depth) {
    if (depth > DEPTH) {
      throw error("nested too deep");
    }
    space();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      default:
        return literal();
    }
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> members = new LinkedHashMap<>();
    at++;
    for (space(); peek() != '}'; space()) {
      if (!members.isEmpty()) {
        expect(',');
        space();
      }
      String name = string();
      space();
      expect(':');
      members.put(name, value(depth + 1));
    }
    at++;
    return members;
  }

  private List<Object> array(int depth) {
    List<Object> elements = new ArrayList<>();
    at++;
    for (space(); peek() != ']'; space()) {
      if (!elements.isEmpty()) {
        expect(',');
      }
      elements.add(value(depth + 1));
    }
    at++;
    return elements;
  }

  private String string() {
    expect('"');
    StringBuilder out = new StringBuilder();
    for (char c = peek(); c != '"'; c = peek()) {
      at++;
      out.append(c == '\\' ? escape() : c);
    }
    at++;
    return out.toString();
  }

  private char escape() {
    char c = peek();
    at++;
    int plain = "\"\\/bfnrt".indexOf(c);
    if (plain >= 0) {
      return "\"\\/\b\f\n\r\t".charAt(plain);
    }
    if (c != 'u' || at + 4 > text.length()) {
      throw error("unknown escape");
    }
    at += 4;
    return (char) Integer.parseInt(text.substring(at - 4, at), 16);
  }

  private Object literal() {
    int start = at;
    while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    String word = text.substring(start, at);
    switch (word) {
      case "true":
        return true;
      case "false":
        return false;
      case "null":
        return null;
      default:
        try {
          if (word.matches("-?\\d+")) {
            return Long.valueOf(word);
          }
          return Double.valueOf(word);
        } catch (NumberFormatException e) {
          throw error("not a value: " + word);
        }
    }
  }

  private char peek() {
    if (at >= text.length()) {
      throw error("ends early");
    }
    return text.charAt(at);
  }

  private void expect(char c) {
    if (peek() != c) {
      throw error("expected " + c);
    }
    at++;
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private IllegalArgumentException error(String what) {
    return new IllegalArgumentException("not JSON at " + at + ": " + what);
  }
}
