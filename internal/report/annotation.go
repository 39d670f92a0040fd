package report

import (
	"fmt"
	"strings"
)

// Annotation is a message that GitHub Actions shows at a line of the source.
type Annotation struct {
	File    string // from the workspace, with slashes; empty for none
	Line    int    // from 1; 0 for none
	Title   string
	Message string // its lines are kept
}

// String gives the workflow command, without a newline:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func (a Annotation) String() string {
	var properties []string
	if a.File != "" {
		properties = append(properties, "file="+commandProperty.Replace(a.File))
	}
	if a.Line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d", a.Line))
	}
	if a.Title != "" {
		properties = append(properties, "title="+commandProperty.Replace(a.Title))
	}
	return "::error " + strings.Join(properties, ",") + "::" + commandData.Replace(a.Message)
}

// As the runner takes them back: actions/toolkit, packages/core/src/command.ts.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
