package io.helenus.agent.points;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Points are looked up in the jar of a release, without running it. */
class ReleaseCheckTest {
  private static ReleaseCheck check;

  @BeforeAll
  static void readNames() throws IOException {
    check =
        new ReleaseCheck(List.of(Path.of("target", "cassandra", "5.0.jar")), Preset.read("5.0"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lwt",
        "StorageProxy.cas",
        "org.apache.cassandra.service.StorageProxy.m*",
        "org.apache.cassandra.service.*Proxy.cas(..)",
        // The node decides which class of this name is meant, by the loaded ones.
        "Descriptor.toString",
      })
  void whatMayBeThereIsLeftToTheNode(String at) {
    assertNull(check.refusal(at, "probe", Points.BOUND));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "StorageProxy.caz | probe | did you mean cas",
        "StorageProxi.cas | probe | did you mean StorageProxy",
        "org.apache.cassandra.service.StorageProxy.cas(int) | probe | there is org.apache",
        "no.such.*.method | probe | no class no.such.*",
        "StorageProxy.* | probe | methods, and 50 are allowed",
        "CommitLog.add | gate | every write waits",
        "org.apache.cassandra.db.commitlog.*.add* | gate | every write waits",
        "StorageProxy.cas | refusal | can't be refused",
        "lwtt | probe | there is no point",
      })
  void whatCanNotBeThereIsRefused(String at, String use, String says) {
    String refusal = check.refusal(at, use, Points.BOUND);
    assertTrue(String.valueOf(refusal).contains(says), refusal);
  }

  @Test
  void aGateMayStandAtSomeOfWhatIsMeant() {
    assertNull(check.refusal("StorageProxy.cas", "gate", Points.BOUND));
    assertNull(check.refusal("lwt", "refusal", Points.BOUND));
    assertNull(check.refusal("org.apache.cassandra.*.add*", "gate", Points.BOUND));
  }
}
