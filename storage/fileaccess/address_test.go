package fileaccess

import (
	"strings"
	"testing"
)

func TestAddressesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		write  bool
		quoted string
		remedy string
	}{
		{"https://host/x.parquet", false, "'https://host/x.parquet'", "curl -O"},
		{"HTTPS://Host:8080/x.parquet", false, "'HTTPS://Host:8080/x.parquet'", "curl -O"},
		{"https://user:secret@host/x.parquet?X-Amz-Signature=secret#secret", false, "'https://host/x.parquet'", "curl -O"},
		{"https://user:p@secret@host/a@b.csv", false, "'https://host/a@b.csv'", "curl -O"},
		{"https://host?token=secret@x", false, "'https://host'", "curl -O"},
		{"s3://bucket/dir/*.parquet", false, "'s3://bucket/dir/*.parquet'", "aws s3 cp"},
		{"s3://key:secret@bucket/out.csv", true, "'s3://bucket/out.csv'", "upload"},
		{"file:///tmp/x.csv", false, "'file:///tmp/x.csv'", "leave out file://"},
		{"file:///tmp/x.csv", true, "'file:///tmp/x.csv'", "leave out file://"},
	} {
		err := notRemote(c.name, c.write)
		if err == nil || !strings.Contains(err.Error(), c.quoted) || !strings.Contains(err.Error(), c.remedy) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s, write %v: %v", c.name, c.write, err)
		}
	}
	for _, name := range []string{"x.csv", "dir/x:y.csv", "a//b.csv", `C:\x.csv`, "://x", "1://x"} {
		if err := NotRemote(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
