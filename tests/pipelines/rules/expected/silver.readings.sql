SELECT sensor, celsius, day, file_row FROM rows ORDER BY 1
