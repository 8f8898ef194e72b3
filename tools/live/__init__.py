"""The laboratory of `make test-live`: namespaces, the NIC in one of them, traffic between the others."""
