module github.com/libmode/libmode

go 1.24.0

require (
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.38.0
	gonum.org/v1/gonum v0.17.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
