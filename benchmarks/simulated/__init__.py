"""A simulated model that has the habits of strong models: how many of its turns does the product waste?"""
