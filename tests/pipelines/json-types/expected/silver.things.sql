SELECT id, small, CAST(price AS VARCHAR), ratio, ok, day, CAST("at" AS VARCHAR), tags, who.name, who.age, map_keys(seen) FROM rows ORDER BY 1
