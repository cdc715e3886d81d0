collect_ignore_glob = ["programs/*"]  # run as programs
