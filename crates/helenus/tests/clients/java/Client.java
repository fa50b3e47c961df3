import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A client of another driver, for the tests: two threads of the Java driver insert and select 200 rows each.
 *
 * <p>{@code Client ADDRESS PROTOCOL [STORE PASSWORD]}: with LZ4, or with TLS where STORE is a PKCS12 file with the node's
 * certificate.
 */
final class Client {
  private static final int ROWS = 200;

  private Client() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (CqlSession session =
        CqlSession.builder()
            .addContactPoint(new InetSocketAddress(arguments[0], 9042))
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(configuration(arguments))
            .build()) {
      session.execute(
          "CREATE KEYSPACE IF NOT EXISTS foreign_shop WITH replication ="
              + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
      session.execute(
          "CREATE TABLE IF NOT EXISTS foreign_shop.java (id int PRIMARY KEY, note text)");
      PreparedStatement insert =
          session.prepare("INSERT INTO foreign_shop.java (id, note) VALUES (?, ?)");
      PreparedStatement select =
          session.prepare("SELECT note FROM foreign_shop.java WHERE id = ?");
      Thread[] threads = new Thread[2];
      for (int number = 0; number < threads.length; number++) {
        int first = number * 1000;
        threads[number] = new Thread(() -> work(session, insert, select, first));
        threads[number].setUncaughtExceptionHandler(
            (thread, error) -> {
              error.printStackTrace();
              Runtime.getRuntime().halt(1);
            });
        threads[number].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  private static DriverConfigLoader configuration(String[] arguments) {
    Duration patience = Duration.ofSeconds(60);
    ProgrammaticDriverConfigLoaderBuilder options =
        DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.PROTOCOL_VERSION, "V" + arguments[1])
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, patience)
            .withDuration(DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT, patience)
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, patience)
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, patience)
            // Otherwise the driver reads the whole schema a second after each change.
            .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
            .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
            .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0);
    if (arguments.length > 2) {
      options
          .withString(DefaultDriverOption.SSL_ENGINE_FACTORY_CLASS, "DefaultSslEngineFactory")
          .withString(DefaultDriverOption.SSL_TRUSTSTORE_PATH, arguments[2])
          .withString(DefaultDriverOption.SSL_TRUSTSTORE_PASSWORD, arguments[3]);
    } else {
      options.withString(DefaultDriverOption.PROTOCOL_COMPRESSION, "lz4");
    }
    return options.build();
  }

  private static void work(
      CqlSession session, PreparedStatement insert, PreparedStatement select, int first) {
    for (int id = first; id < first + ROWS; id++) {
      String note = "n".repeat(id);
      session.execute(insert.bind(id, note));
      String found = session.execute(select.bind(id)).one().getString("note");
      if (!note.equals(found)) {
        throw new IllegalStateException("row " + id);
      }
    }
  }
}
