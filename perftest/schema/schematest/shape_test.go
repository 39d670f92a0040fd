package schematest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShape(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":123,"b":"123 \" 45","c":[0.250,7]}`: `{"a":10,"b":"123 \" 45","c":[0.10,7]}`,
		`[-12,-12.00,0.0,0.00,10,1e-05,-0.5,5]`:   `[-10,-10.0,0.0,0.0,10,1e-10,-0.5,5]`,
		`"cut off 12\`:                            `"cut off 12\`,
		`12`:                                      `10`,
	} {
		require.Equal(t, want, shape([]byte(line)))
	}
}
