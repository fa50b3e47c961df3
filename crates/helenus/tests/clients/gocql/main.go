// A client that is not ours, for the tests: two goroutines of gocql insert and select 200 rows each.
//
// gocql ADDRESS PROTOCOL [CA]: with LZ4, or with TLS where CA is a file of certificates.
package main

import (
	"bytes"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
)

const rows = 200

func main() {
	protocol, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	cluster := gocql.NewCluster(os.Args[1])
	cluster.ProtoVersion = protocol
	cluster.Timeout = 20 * time.Second
	cluster.ConnectTimeout = 20 * time.Second
	cluster.Consistency = gocql.LocalOne
	cluster.Compressor = lz4.LZ4Compressor{}
	if len(os.Args) > 3 {
		cluster.Compressor = nil
		cluster.SslOpts = &gocql.SslOptions{CaPath: os.Args[3], EnableHostVerification: true}
	}
	session, err := cluster.CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, statement := range []string{
		"CREATE KEYSPACE IF NOT EXISTS foreign_shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS foreign_shop.gocql (id int PRIMARY KEY, note text)",
	} {
		if err := session.Query(statement).Exec(); err != nil {
			log.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for _, first := range []int{0, 1000} {
		all.Add(1)
		go func() {
			defer all.Done()
			for id := first; id < first+rows; id++ {
				note := string(bytes.Repeat([]byte("n"), id))
				if err := session.Query("INSERT INTO foreign_shop.gocql (id, note) VALUES (?, ?)", id, note).Exec(); err != nil {
					log.Fatal(err)
				}
				var found string
				if err := session.Query("SELECT note FROM foreign_shop.gocql WHERE id = ?", id).Scan(&found); err != nil || found != note {
					log.Fatal("row ", id, ": ", err)
				}
			}
		}()
	}
	all.Wait()
}
