extern main { } // error: [E0722] an instance of a package
