//go:build unix

package childtest

import (
	"encoding/xml"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// junitCase is a test case of a JUnit file.
type junitCase struct {
	Name       string `xml:"name,attr"`
	Failure    string `xml:"failure"`
	Properties []struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	} `xml:"properties>property"`
}

// readJUnit reads the test cases of a file that gotestsum has written.
func readJUnit(t *testing.T, name string) []junitCase {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	var report struct {
		Cases []junitCase `xml:"testsuite>testcase"`
	}
	require.NoError(t, xml.Unmarshal(data, &report))
	return report.Cases
}
