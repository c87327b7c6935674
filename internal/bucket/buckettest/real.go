package buckettest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// realKeys are those of the server that GOLDGEN_TEST_S3 names.
const realID, realSecret = "goldgen", "goldgen-secret"

// Real makes a bucket of its own, for the time of a test, on the real server that
// GOLDGEN_TEST_S3 names, and returns its address and the environment to open it with.
// Without such a server the address is "", which in CI is an error.
func Real(t *testing.T) (address string, env func(string) string) {
	t.Helper()
	endpoint := os.Getenv("GOLDGEN_TEST_S3")
	if endpoint == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("GOLDGEN_TEST_S3 is not set: in CI a real server must be there")
		}
		t.Log("GOLDGEN_TEST_S3 is not set: not run against a real store")
		return "", nil
	}
	client, err := minio.New(strings.TrimPrefix(endpoint, "http://"), &minio.Options{Creds: credentials.NewStaticV4(realID, realSecret, "")})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("goldgen-%d-%d", os.Getpid(), time.Now().UnixNano())
	if err := client.MakeBucket(t.Context(), name, minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(client, name) })
	return "s3://" + name, func(key string) string {
		return map[string]string{"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": realID, "AWS_SECRET_ACCESS_KEY": realSecret}[key]
	}
}

// remove takes a bucket away with what it holds; what fails is left to the server.
func remove(client *minio.Client, name string) {
	ctx := context.Background()
	for o := range client.ListObjectsIter(ctx, name, minio.ListObjectsOptions{Recursive: true}) {
		client.RemoveObject(ctx, name, o.Key, minio.RemoveObjectOptions{})
	}
	client.RemoveBucket(ctx, name)
}
