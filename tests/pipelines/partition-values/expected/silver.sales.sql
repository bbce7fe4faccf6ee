SELECT day, region, file_row FROM rows ORDER BY 3
