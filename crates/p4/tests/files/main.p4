extern X { X(); }
X() main; // error: [E0722] expected one of a package
