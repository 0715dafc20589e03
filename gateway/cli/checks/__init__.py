"""What can be tried of the settings from outside: one file a service. `gateway doctor` and `gateway init` share it."""
