print("norrisctl")
