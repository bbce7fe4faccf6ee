SELECT code, stage, text, file_row FROM rows ORDER BY file_row
