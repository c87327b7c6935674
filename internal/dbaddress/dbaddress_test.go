package dbaddress_test

import (
	"strings"
	"testing"

	"github.com/goldgen/goldgen/internal/dbaddress"
)

// TestSecretsInAddresses holds that an address with a secret is refused and not shown.
func TestSecretsInAddresses(t *testing.T) {
	for _, dsn := range []string{"", " ", "postgres://u:topsecret@h/d", "host=h password=topsecret", "host=h PASSWORD = topsecret"} {
		if err := dbaddress.CheckPostgres(dsn); err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: %v", dsn, err)
		}
	}
	for _, address := range []string{"", "h:6334/c", "grpc://h/c", "http://u:topsecret@h/c"} {
		if err := dbaddress.CheckQdrant(address); err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, dsn := range []string{"postgres://u@h/d", "host=h dbname=d", "postgresql://u:@/d?host=/run"} {
		if err := dbaddress.CheckPostgres(dsn); err != nil {
			t.Errorf("%q: %v", dsn, err)
		}
	}
	if err := dbaddress.CheckQdrant("https://h:6334/c"); err != nil {
		t.Error(err)
	}
	if got := dbaddress.Collection("http://h:6334/c/", "") + dbaddress.Collection("http://h", "d"); got != "cd" {
		t.Error(got)
	}
}
