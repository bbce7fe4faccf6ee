SELECT region, file_row FROM rows ORDER BY 2
