SELECT code, stage, file_row FROM rows ORDER BY 3
