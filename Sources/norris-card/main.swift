import NorrisCards

CardProgram.run()
