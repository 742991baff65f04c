import NorrisFetch

FetchProgram.main()
