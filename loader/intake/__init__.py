"""From stored files to profiles that the engine may see: fetched, unpacked, inspected, repaired."""
