SELECT sensor, celsius, file_row FROM rows ORDER BY 1 NULLS LAST
