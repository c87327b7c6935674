// Package dbaddress reads the addresses of databases that people write into a
// configuration, and refuses those that hold a secret.
package dbaddress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
)

var passwordSetting = regexp.MustCompile(`(?i)password\s*=`)

// CheckPostgres refuses a DSN that is empty or holds a password, which it never shows.
func CheckPostgres(dsn string) error {
	u, err := url.Parse(dsn)
	hidden := passwordSetting.MatchString(dsn)
	if err == nil && u.User != nil {
		password, _ := u.User.Password()
		hidden = hidden || password != ""
	}
	switch {
	case strings.TrimSpace(dsn) == "":
		return errors.New("dsn: empty")
	case hidden:
		return errors.New("dsn: holds a password; put it into PGPASSWORD, PGPASSFILE or password_file")
	}
	return nil
}

// CheckQdrant refuses what is no address of a server, or holds a user or a key.
func CheckQdrant(address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return errors.New("url: empty")
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return errors.New("url: want http://HOST:6334/COLLECTION, or https")
	case u.User != nil:
		return errors.New("url: holds a user or password; a key goes into api_key, as ${QDRANT_API_KEY}")
	}
	return nil
}

// Collection is the configured collection, else the path of the address.
func Collection(address, configured string) string {
	if configured != "" {
		return configured
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// NewQdrant prepares a connection on which nothing is sent yet. Answers of more than so
// many bytes are refused. host is for messages.
func NewQdrant(address, key string, maxAnswer int) (client *qdrant.Client, host string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", errors.New("url: no address")
	}
	port, err := strconv.Atoi(u.Port())
	if u.Port() != "" && err != nil {
		return nil, "", fmt.Errorf("url: port %q", u.Port())
	}
	client, err = qdrant.NewClient(&qdrant.Config{
		Host: u.Hostname(), Port: port, APIKey: key, UseTLS: u.Scheme == "https", TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		PoolSize: 1, SkipCompatibilityCheck: true,
		GrpcOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer))},
	})
	return client, u.Host, err
}
