SELECT code, file_row, decode(payload) FROM rows ORDER BY 2
