// Release writes what goes with a built command: a bill of materials (CycloneDX) from what the Go
// toolchain noted in it, and an image with nothing but the command, as docker load and ctr image import
// read it. The same command and SOURCE_DATE_EPOCH give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	binary := flag.String("binary", "", "the built command")
	arch := flag.String("arch", "amd64", "its architecture")
	version := flag.String("version", "0.0.0", "its version")
	sbom := flag.String("sbom", "", "file for the bill of materials")
	image := flag.String("image", "", "file for the image")
	flag.Parse()
	if err := release(*binary, *arch, *version, *sbom, *image); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(binary, arch, version, sbom, image string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w: set it to the time of the commit", err)
	}
	command, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	if err := writeSBOM(sbom, command, version); err != nil {
		return err
	}
	return writeImage(image, command, arch, version, time.Unix(seconds, 0).UTC())
}

// writeSBOM lists the modules that the command is made of.
func writeSBOM(file string, command []byte, version string) error {
	info, err := buildinfo.Read(bytes.NewReader(command))
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		BOMRef: "chronoscope", Type: cyclonedx.ComponentTypeApplication, Name: "chronoscope", Version: version,
	}}
	parts := []cyclonedx.Component{{
		BOMRef: "pkg:golang/stdlib@" + info.GoVersion, PackageURL: "pkg:golang/stdlib@" + info.GoVersion,
		Type: cyclonedx.ComponentTypeLibrary, Name: "stdlib", Version: info.GoVersion,
	}}
	for _, d := range info.Deps {
		url := "pkg:golang/" + d.Path + "@" + d.Version
		parts = append(parts, cyclonedx.Component{BOMRef: url, PackageURL: url, Type: cyclonedx.ComponentTypeLibrary, Name: d.Path, Version: d.Version})
	}
	bom.Components = &parts
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// nobody is the user that the image runs as.
const nobody = 65532

// writeImage writes an image whose only file is the command.
func writeImage(file string, command []byte, arch, version string, made time.Time) error {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return layerOf(command, made) })
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{
		Architecture: arch, OS: "linux", Created: v1.Time{Time: made}, RootFS: rootFS(img),
		Config: v1.Config{
			User: strconv.Itoa(nobody), Entrypoint: []string{"/chronoscope"}, Cmd: []string{"serve"},
			Labels: map[string]string{"org.opencontainers.image.title": "chronoscope", "org.opencontainers.image.version": version},
		},
	})
	if err != nil {
		return err
	}
	tag, err := name.NewTag("chronoscope:" + tagOf(version))
	if err != nil {
		return err
	}
	return tarball.WriteToFile(file, tag, img)
}

// tagOf returns the version as an image's tag: with a - for each +, which a tag must not contain.
func tagOf(version string) string {
	return string(bytes.ReplaceAll([]byte(version), []byte("+"), []byte("-")))
}

func rootFS(img v1.Image) v1.RootFS {
	config, err := img.ConfigFile()
	if err != nil {
		return v1.RootFS{}
	}
	return config.RootFS
}

// layerOf is an archive with the command and a folder for temporary files.
func layerOf(command []byte, made time.Time) (io.ReadCloser, error) {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, h := range []tar.Header{
		{Name: "chronoscope", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(command))},
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
	} {
		h.ModTime, h.Format = made, tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if h.Size > 0 {
			if _, err := w.Write(command); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return io.NopCloser(&text), nil
}
