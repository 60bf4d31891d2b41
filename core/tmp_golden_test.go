package core

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTmpGolden(t *testing.T) {
	text, _ := os.ReadFile("../tests/golden/variables.json")
	var cases []map[string]any
	require.NoError(t, json.Unmarshal(text, &cases))
	floats := func(v any) (out []float64) {
		if v == nil {
			return nil
		}
		for _, x := range v.([]any) {
			if x == nil {
				out = append(out, math.NaN())
			} else {
				out = append(out, x.(float64))
			}
		}
		return
	}
	ints := func(v any) (out []int32) {
		for _, x := range floats(v) {
			out = append(out, int32(x))
		}
		return
	}
	for _, c := range cases {
		name := c["name"].(string)
		if strings.HasPrefix(name, "unbinned") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			cfg := DefaultConfig(MoDe)
			rows := c["mass"].([]any)
			var ev Events[float64]
			ev.Score, ev.Weight = floats(c["score"]), floats(c["weight"])
			d := 1
			if first, ok := rows[0].([]any); ok {
				d = len(first)
				ev.Masses = make([][]float64, d)
				for _, r := range rows {
					for k, x := range floats(r) {
						ev.Masses[k] = append(ev.Masses[k], x)
					}
				}
			} else {
				ev.Mass = floats(c["mass"])
			}
			vars := make([]Variable, d)
			for k := range vars {
				vars[k].MassRange = unbounded()
			}
			per := false
			for key, value := range c["options"].(map[string]any) {
				list, isList := value.([]any)
				if d > 1 && isList && key != "score_range" && key != "background_label" {
					per = true
					for k, v := range list {
						switch key {
						case "bins":
							vars[k].Bins = int(v.(float64))
						case "mass_range":
							if v != nil {
								vars[k].MassRange = [2]float64(floats(v))
							}
						case "edges":
							vars[k].Edges = floats(v)
						case "knots":
							vars[k].Knots = floats(v)
						}
					}
					continue
				}
				if key == "background_label" {
					if isList {
						cfg.BackgroundLabel = ints(value)
					} else {
						cfg.BackgroundLabel = []int32{int32(value.(float64))}
					}
					continue
				}
				set(&cfg, optionOf(key), value)
			}
			if per {
				cfg.Variables = vars
			}
			if c["label"] != nil {
				ev.Label = LabelsOf(ints(c["label"]))
			}
			if c["category"] != nil {
				ev.Category = LabelsOf(ints(c["category"]))
			}
			grad := make([]float64, len(ev.Score))
			loss, err := LossAndGrad(grad, ev, cfg)
			require.NoError(t, err)
			want := floats(c["grad"])
			largest := 0.0
			for _, g := range want {
				largest = max(largest, math.Abs(g))
			}
			require.InDelta(t, c["loss"], loss, 1e-10*math.Max(1e-3, math.Abs(loss)))
			for i := range want {
				require.InDelta(t, want[i], grad[i], 1e-9*largest, i)
			}
		})
	}
}
