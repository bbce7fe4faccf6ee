SELECT code, text, file_row FROM rows ORDER BY file_row
