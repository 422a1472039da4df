package kubernetes

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// decoded is a manifest as its type, without fields that the type does not have.
func decoded[T any](t *testing.T, file string) *T {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	if err := strictly(text, object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return object
}

// strictly decodes as an API server with strict validation does: fields twice, unknown ones, and those in other
// letters are errors.
func strictly(text []byte, object any) error {
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(data, object)
	return errors.Join(append(strict, err)...)
}

type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace"`
	Resources  []string `json:"resources"`
	Images     []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
		NewTag  string `json:"newTag"`
	} `json:"images"`
}

// Each manifest is decoded strictly, and the Kustomization names what there is.
func TestManifestsAreDecoded(t *testing.T) {
	decoded[core.Namespace](t, "namespace.yaml")
	decoded[core.ServiceAccount](t, "serviceaccount.yaml")
	decoded[apps.DaemonSet](t, "daemonset.yaml")
	decoded[batch.Job](t, "clocks-job.yaml")
	base := decoded[kustomization](t, "kustomization.yaml")
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	alone := []string{"kustomization.yaml", "clocks-job.yaml"} // which is applied by itself
	for _, file := range files {
		if slices.Contains(alone, file) == slices.Contains(base.Resources, file) {
			t.Errorf("%s: in the Kustomization or applied by itself, and not both", file)
		}
	}
	if base.Namespace != "chronoscope" || base.Kind != "Kustomization" || len(base.Images) != 1 {
		t.Errorf("%+v", base)
	}
}

// Both run the image of the Kustomization, which replaces the name in one of them, and take one that is on the node: with the
// tag latest the node would ask for it each time.
func TestImage(t *testing.T) {
	image := decoded[kustomization](t, "kustomization.yaml").Images[0]
	exporter := decoded[apps.DaemonSet](t, "daemonset.yaml").Spec.Template.Spec.Containers[0]
	job := decoded[batch.Job](t, "clocks-job.yaml").Spec.Template.Spec.Containers[0]
	if exporter.Image != image.Name || job.Image != image.NewName+":"+image.NewTag || image.NewTag == "latest" {
		t.Errorf("%q and %q, of %+v", exporter.Image, job.Image, image)
	}
	for _, c := range []core.Container{exporter, job} {
		if c.ImagePullPolicy != core.PullIfNotPresent {
			t.Errorf("%s: the policy is %q", c.Name, c.ImagePullPolicy)
		}
	}
}

// The job's user may write to a volume, which at first belongs to root.
func TestTheJobMayWrite(t *testing.T) {
	pod := decoded[batch.Job](t, "clocks-job.yaml").Spec.Template.Spec
	user := *pod.Containers[0].SecurityContext.RunAsUser
	if s := pod.SecurityContext; s == nil || s.FSGroup == nil || *s.FSGroup != user {
		t.Errorf("%+v, and the user is %d", s, user)
	}
}

// A field that no type has is refused: the test of the manifests can fail.
func TestUnknownFieldsAreRefused(t *testing.T) {
	text, err := os.ReadFile("daemonset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Replace(text, []byte("hostPID:"), []byte("hostPid:"), 1)
	if bytes.Equal(text, wrong) || strictly(wrong, new(apps.DaemonSet)) == nil {
		t.Error("hostPid is taken")
	}
}

// The exporter has these rights and no others; the job has none.
func TestRights(t *testing.T) {
	set := decoded[apps.DaemonSet](t, "daemonset.yaml")
	for k, v := range set.Spec.Selector.MatchLabels {
		if set.Spec.Template.Labels[k] != v {
			t.Errorf("the selector %s=%s selects no pod of it", k, v)
		}
	}
	pod := set.Spec.Template.Spec
	rights := pod.Containers[0].SecurityContext
	if !slices.Equal(rights.Capabilities.Add, []core.Capability{"PERFMON", "DAC_READ_SEARCH"}) || !slices.Equal(rights.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("capabilities %+v", rights.Capabilities)
	}
	if rights.Privileged != nil || *rights.AllowPrivilegeEscalation || !*rights.ReadOnlyRootFilesystem || pod.HostNetwork || pod.HostIPC || *pod.AutomountServiceAccountToken {
		t.Errorf("%+v of %+v", rights, pod)
	}
	if _, limited := pod.Containers[0].Resources.Limits[core.ResourceCPU]; limited {
		t.Error("a CPU limit throttles what measures throttling")
	}
	job := decoded[batch.Job](t, "clocks-job.yaml").Spec
	if want := pod.Tolerations; len(want) != 1 || !slices.Equal(job.Template.Spec.Tolerations, want) {
		t.Errorf("the job tolerates %v, the exporter %v: its pods for tainted nodes would wait for ever", job.Template.Spec.Tolerations, want)
	}
	own := job.Template.Spec.Containers[0].SecurityContext
	if len(own.Capabilities.Add) > 0 || !*own.RunAsNonRoot || *job.CompletionMode != batch.IndexedCompletion || *job.Completions != *job.Parallelism {
		t.Errorf("%+v", job)
	}
}
