# Read behind a model's makefile: runtime.h precompiled into STORE with the flags of the model's own files.
$(STORE)/runtime.h.gch: $(STORE)/runtime.h
	$(CXX) $(OPT_FAST) $(CXXFLAGS) $(CPPFLAGS) -x c++-header $< -o $@
