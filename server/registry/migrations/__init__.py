"""The history of the registry's tables; applied by `Database.migrate`, shipped with the package."""
