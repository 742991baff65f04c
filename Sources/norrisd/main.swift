import NorrisDaemon

await Daemon.main()
