SELECT code, file_row, component FROM rows ORDER BY 2
