package stage

// Plugin is what any plugin tells of itself, whatever its sessions are.
type Plugin struct {
	Describe func() string
	Plan     func(options string, input []Column) (Plan, error)
}

// The one plugin of this component.
var plugin *Plugin

// ThePlugin is the one plugin of this component.
func ThePlugin() *Plugin {
	if plugin == nil {
		panic("nothing is served: call Serve in an init function")
	}
	return plugin
}

// Served holds the one plugin of a component, with its sessions.
type Served[S any] struct{ definition *Definition[S] }

// Serve names it.
func (s *Served[S]) Serve(definition *Definition[S]) {
	if plugin != nil {
		panic("a component is one plugin: Serve is called twice")
	}
	s.definition, plugin = definition, &Plugin{Describe: definition.Describe, Plan: definition.Plan}
}

// Definition is what was named.
func (s *Served[S]) Definition() *Definition[S] {
	ThePlugin()
	return s.definition
}
