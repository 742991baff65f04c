import NorrisCommands

Program.run()
